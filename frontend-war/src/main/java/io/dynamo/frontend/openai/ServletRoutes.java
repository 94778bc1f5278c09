package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.CountingMark;
import io.dynamo.frontend.EdgeFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;

/** Passes requests of servlets to {@link TextService}, by their exact paths. */
final class ServletRoutes {
  private static final String POST = "POST";

  private ServletRoutes() {}

  /**
   * Starts to serve a request and returns.
   *
   * @param apis by path; each is reached by {@code POST}
   * @param alsoPut a path that {@code PUT} reaches, too; empty for none
   */
  static void serve(
      TextService texts,
      Map<String, Api> apis,
      String alsoPut,
      HttpServletRequest request,
      HttpServletResponse response)
      throws IOException {
    var path = request.getServletPath();
    var api = apis.get(path);
    if (api == null) {
      EdgeFilter.answer(
          request, response, ApiError.routeNotFound(request.getMethod(), request.getRequestURI()));
      return;
    }
    boolean put = path.equals(alsoPut);
    if (!request.getMethod().equals(POST) && !(put && request.getMethod().equals("PUT"))) {
      response.setHeader("Allow", put ? "POST,PUT" : POST);
      EdgeFilter.answer(
          response, ApiError.of(405, request.getMethod() + " is not allowed here; use POST"));
      return;
    }
    serve(texts, api, request, response);
  }

  private static void serve(
      TextService texts, Api api, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    CountingMark.take(request);
    var call = TextCalls.incoming(request, TextCalls.headers(request));
    var async = request.startAsync(request, response);
    async.setTimeout(0); // reads and writes have limits of their own
    var answer = new ServletAnswer(new AnswerWriter(response, async::complete));
    try {
      texts.serve(api, call, answer);
    } catch (RuntimeException | Error e) {
      async.complete();
      throw e;
    }
  }
}
