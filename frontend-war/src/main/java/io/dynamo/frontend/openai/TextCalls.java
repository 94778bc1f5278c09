package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.CountingMark;
import io.dynamo.frontend.ErrorFormat;
import io.dynamo.frontend.ErrorMapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.ws.rs.container.AsyncResponse;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.StreamingOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Passes requests from JAX-RS to {@link TextService} and its answers back. */
final class TextCalls {
  private TextCalls() {}

  /** Starts to serve a request and returns; it is answered on another thread. */
  static void serve(
      TextService service, Api api, AsyncResponse response, HttpServletRequest request)
      throws IOException {
    response.setTimeout(0, TimeUnit.MILLISECONDS);
    CountingMark.take(request);
    var headers = headers(request);
    var sink = new JaxRsAnswer(response, api.errors(), null);
    if (api.errors() == ErrorFormat.ANTHROPIC) {
      var id = CallHeaders.requestId(headers);
      headers.put(CallHeaders.REQUEST_ID, id); // the header and the answer's id agree
      sink = new JaxRsAnswer(response, api.errors(), "req_" + id.replace("-", ""));
    }
    service.serve(api, incoming(request, headers), sink);
  }

  /** The request as the service takes it. */
  static IncomingRequest incoming(HttpServletRequest request, Map<String, String> headers)
      throws IOException {
    return new IncomingRequest(
        request.getContentType(),
        request.getContentLengthLong(),
        headers,
        end(request.getLocalAddr(), request.getLocalPort()),
        end(request.getRemoteAddr(), request.getRemotePort()),
        request.getInputStream());
  }

  /**
   * The address of one end of the connection; a wildcard address when a proxy forwards no valid
   * one.
   */
  static InetSocketAddress end(String address, int port) {
    try {
      return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    } catch (IllegalArgumentException e) { // "unknown" of RFC 7239, for example
      return new InetSocketAddress(port);
    }
  }

  /** The first value of each header, by lower-case name. */
  static Map<String, String> headers(HttpServletRequest request) {
    var headers = new HashMap<String, String>();
    for (var name : Collections.list(request.getHeaderNames())) {
      headers.putIfAbsent(name.toLowerCase(Locale.ROOT), request.getHeader(name));
    }
    return headers;
  }

  /**
   * Resumes {@code response}.
   *
   * @throws UncheckedIOException when the response cannot be resumed: its connection is gone
   */
  static void resume(AsyncResponse response, Object answer) {
    if (!response.resume(answer)) {
      throw new UncheckedIOException(
          new IOException("the container takes no answer for this request any more"));
    }
  }

  /** Answers through {@code response}, on the thread that gives the answer. */
  static AnswerSink answer(AsyncResponse response, ErrorFormat errors) {
    return new JaxRsAnswer(response, errors, null);
  }

  /**
   * Resumes on the thread that serves the request; the container writes on it too.
   *
   * @param requestId sent as Anthropic's header; null for none
   */
  private record JaxRsAnswer(AsyncResponse response, ErrorFormat errors, @Nullable String requestId)
      implements AnswerSink {
    private static final String REQUEST_ID = "request-id";

    /** The answer for {@code error}. */
    Response response(ApiError error) {
      return Response.fromResponse(ErrorMapper.response(error, errors))
          .header(REQUEST_ID, requestId) // null adds none
          .build();
    }

    @Override
    public void error(ApiError error) {
      TextCalls.resume(response, response(error));
    }

    @Override
    public void json(byte[] body) {
      // as a stream: an entity of bytes is written by a listener, on a further thread
      StreamingOutput output = out -> out.write(body);
      TextCalls.resume(
          response,
          Response.ok(output, MediaType.APPLICATION_JSON_TYPE)
              .header("content-length", body.length)
              .header(REQUEST_ID, requestId)
              .build());
    }

    @Override
    public void whole(WholeBody answer) {
      StreamingOutput output = out -> out.write(answer.bytes());
      TextCalls.resume(
          response,
          Response.status(answer.status())
              .entity(output)
              .type(answer.contentType())
              .header("content-length", answer.bytes().length)
              .header("metadata", answer.metadata()) // null adds none
              .header(REQUEST_ID, requestId)
              .build());
    }

    @Override
    public void events(StreamBody body) {
      StreamingOutput output =
          out -> {
            out.flush(); // the container ignores the first: without it the first frame would wait
            body.writeTo(out);
          };
      TextCalls.resume(
          response,
          Response.ok(output, MediaType.SERVER_SENT_EVENTS_TYPE)
              .header("cache-control", "no-cache")
              .header(REQUEST_ID, requestId)
              .build());
    }
  }
}
