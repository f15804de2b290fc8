//! What can be asked for over HTTP, and the headers on every answer.

use std::sync::Arc;

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{Extension, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;

use crate::listener::Caller;
use crate::protocol::MOST_BYTES;
use crate::server::{Counted, Shared};
use crate::{assets, connection, guard};

/// No script, style or picture but ours, no frames, no forms.
const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; object-src 'none'";
const HTML: &str = "text/html; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
/// Where the page's own text gets the token.
const TOKEN_PLACE: &str = "@token@";
/// How many pages are open, of how many: a refused handshake tells a page nothing.
const VIEWERS: HeaderName = HeaderName::from_static("citrange-viewers");
const NO_TOKEN: &str = "This page needs its token: open the whole link that citrange printed.\n";
const WRONG_TOKEN: &str =
    "This link is out of date: the server was started again. Open the new link it printed.\n";

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/ws", get(socket))
        .fallback(asset)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guarded))
        .with_state(shared)
}

/// Checks the Host header before everything else, and puts the safe headers on the answer.
async fn guarded(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = if shared.names.allow(request.headers(), caller.came_in_on) {
        next.run(request).await
    } else {
        let line = "This server does not go by that name: use localhost, its address, or a name \
                    it was started with.\n";
        (StatusCode::FORBIDDEN, line).into_response()
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn refuse_token(query: Option<&str>) -> Response {
    if guard::token_of(query).is_some() {
        return (StatusCode::FORBIDDEN, WRONG_TOKEN).into_response();
    }
    // A page that is loaded again has lost the token from its address, but not from its tab.
    let body = format!(
        "<!doctype html><html lang=en><meta charset=utf-8>\
         <meta name=viewport content=\"width=device-width, initial-scale=1\"><title>Citrange</title>\
         <script type=module src=/again.js></script><p>{NO_TOKEN}\
         <p><label>Or paste the token: <input id=token size=36 autocomplete=off></label> \
         <button id=go type=button>Open</button><p id=said role=status>"
    );
    (StatusCode::UNAUTHORIZED, [(header::CONTENT_TYPE, HTML)], body).into_response()
}

/// The page, for a code that was not used before. The link itself leads on to such a code, so that
/// the token is not what a browser writes down; a page that is loaded again asks for one by itself.
async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
    method: Method,
    headers: HeaderMap,
) -> Response {
    let query = query.as_deref();
    if shared.codes.take(query) {
        caller.is_known();
        let page = assets::PAGE.replace(TOKEN_PLACE, shared.token.text());
        return ([(header::CONTENT_TYPE, HTML)], page).into_response();
    }
    let by_page = shared.token.is_in_header(&headers);
    if !by_page && !shared.token.is_in(query) {
        return refuse_token(query);
    }
    caller.is_known();
    let room = [(VIEWERS, shared.viewers_text())];
    if method == Method::HEAD {
        return (room, ()).into_response();
    }
    match shared.codes.give() {
        Ok(code) if by_page => ([(header::CONTENT_TYPE, PLAIN)], code).into_response(),
        Ok(code) => (room, Redirect::to(&format!("/?once={code}"))).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

async fn asset(method: Method, uri: Uri) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let Some(asset) = assets::at(uri.path()) else {
        return (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, PLAIN)], "Not found.\n")
            .into_response();
    };
    // Versioned paths never change what they hold.
    let keep = if asset.versioned { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = [(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, keep)];
    (headers, asset.bytes).into_response()
}

async fn socket(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    if !guard::same_origin(&headers) {
        let line =
            "Only this server's own page may connect: the Origin header is another's or missing.\n";
        return (StatusCode::FORBIDDEN, line).into_response();
    }
    if !shared.token.is_in(query.as_deref()) {
        return refuse_token(query.as_deref());
    }
    caller.is_known();
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(rejection) => return rejection.into_response(),
    };
    let Some(place) = Counted::new(&shared, |shared| &shared.viewers, shared.most_viewers) else {
        let line = format!(
            "{} pages are open already, that is the most; --max-viewers allows more.\n",
            shared.most_viewers
        );
        return (StatusCode::SERVICE_UNAVAILABLE, line).into_response();
    };
    upgrade
        .max_message_size(MOST_BYTES)
        .max_frame_size(MOST_BYTES)
        .write_buffer_size(0)
        .on_upgrade(move |socket| connection::run(socket, shared, place))
}
