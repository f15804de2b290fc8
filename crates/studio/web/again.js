// A page without its code: one that is loaded again still has the token in its tab's memory, others
// may paste it. Either way the token goes in a header, never in an address.

async function enter(token) {
  const answer = await fetch("/", { cache: "no-store", headers: { "citrange-token": token } });
  if (!answer.ok) return false;
  location.replace("/?once=" + encodeURIComponent(await answer.text()));
  return true;
}

const kept = sessionStorage.getItem("citrange-token");
if (kept && !(await tryIt(kept))) sessionStorage.removeItem("citrange-token");

async function tryIt(token) {
  try {
    return await enter(token);
  } catch {
    return false;
  }
}

const field = document.getElementById("token");
const open = async () => {
  if (!(await tryIt(field.value.trim()))) {
    document.getElementById("said").textContent = "That is not the token of the server that runs now.";
  }
};
document.getElementById("go").addEventListener("click", open);
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter") open();
});
