package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.CountingMark;
import io.dynamo.frontend.EdgeFilter;
import io.dynamo.frontend.socket.SocketHandshake;
import jakarta.inject.Inject;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** {@code GET /v1/realtime}: the handshake of a realtime session. */
@WebServlet(urlPatterns = "/v1/realtime", asyncSupported = true)
public class RealtimeServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; servlets are not serialized
  private transient RealtimeService realtime;

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException, ServletException {
    if (!request.getMethod().equals("GET")) {
      response.setHeader("Allow", "GET");
      EdgeFilter.answer(
          response, ApiError.of(405, request.getMethod() + " is not allowed here; use GET"));
      return;
    }
    var headers = TextCalls.headers(request);
    var objection = objection(headers);
    if (objection != null) {
      EdgeFilter.answer(response, objection);
      return;
    }
    RealtimeSession session;
    try {
      session =
          realtime.admit(
              TextCalls.incoming(request, headers),
              Objects.requireNonNullElse(request.getParameter("model"), ""));
    } catch (ApiException refusal) {
      CountingMark.take(request); // counted there
      EdgeFilter.answer(response, refusal.error());
      return;
    }
    upgrade(request, response, headers, session);
  }

  private void upgrade(
      HttpServletRequest request,
      HttpServletResponse response,
      Map<String, String> headers,
      RealtimeSession session)
      throws IOException, ServletException {
    boolean upgraded = false;
    try {
      CountingMark.take(request);
      response.setStatus(HttpServletResponse.SC_SWITCHING_PROTOCOLS);
      response.setHeader("Upgrade", "websocket");
      response.setHeader("Connection", "Upgrade");
      response.setHeader(
          "Sec-WebSocket-Accept",
          SocketHandshake.accept(Objects.requireNonNull(headers.get("sec-websocket-key"))));
      if (offersRealtime(headers.get("sec-websocket-protocol"))) {
        response.setHeader("Sec-WebSocket-Protocol", "realtime");
      }
      request.upgrade(RealtimeUpgrade.class).prepare(realtime, session);
      upgraded = true;
    } finally {
      if (!upgraded) {
        session.fail();
      }
    }
  }

  /** Browsers close a socket whose server takes none of the protocols that they offer. */
  private static boolean offersRealtime(@Nullable String protocols) {
    if (protocols != null) {
      for (var each : protocols.split(",", -1)) {
        if (each.strip().equals("realtime")) {
          return true;
        }
      }
    }
    return false;
  }

  private static @Nullable ApiError objection(Map<String, String> headers) {
    var fault = SocketHandshake.fault(headers);
    if (fault != null) {
      return ApiError.of(400, fault);
    }
    var origin = headers.get("origin");
    return origin == null || isOwn(origin, headers.get("host"))
        ? null
        : ApiError.of(
            403,
            "pages of %s may not open sessions here; a browser lets no page of another origin read the other routes either"
                .formatted(ApiError.shown(origin)));
  }

  private static boolean isOwn(String origin, @Nullable String host) {
    try {
      var authority = URI.create(origin).getAuthority();
      return authority != null && authority.equalsIgnoreCase(host);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
