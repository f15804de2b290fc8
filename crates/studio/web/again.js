// A page that is loaded again has no token in its address; the tab remembers it.
const token = sessionStorage.getItem("citrange-token");
if (token && !new URLSearchParams(location.search).has("token")) {
  location.replace("/?token=" + encodeURIComponent(token));
}
