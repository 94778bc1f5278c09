package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.CountingMark;
import io.dynamo.frontend.EdgeFilter;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;

/**
 * The routes of tokens, which lie outside {@code /v1} as in vLLM and SGLang: {@code POST
 * /tokenize}, {@code POST /detokenize}, {@code POST /inference/v1/generate}, {@code POST} and
 * {@code PUT /generate}.
 */
@WebServlet(
    urlPatterns = {
      TokenRoutesServlet.TOKENIZE,
      TokenRoutesServlet.DETOKENIZE,
      TokenRoutesServlet.VLLM_GENERATE,
      TokenRoutesServlet.SGLANG_GENERATE
    },
    asyncSupported = true)
public class TokenRoutesServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  static final String TOKENIZE = "/tokenize";
  static final String DETOKENIZE = "/detokenize";
  static final String VLLM_GENERATE = "/inference/v1/generate";
  static final String SGLANG_GENERATE = "/generate";

  private static final Map<String, Api> APIS =
      Map.of(
          TOKENIZE,
          TextService.TOKENIZE,
          DETOKENIZE,
          TextService.DETOKENIZE,
          VLLM_GENERATE,
          TextService.VLLM_GENERATE,
          SGLANG_GENERATE,
          TextService.SGLANG_GENERATE);

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; servlets are not serialized
  private transient TextService texts;

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    var path = request.getServletPath();
    var api = APIS.get(path);
    if (api == null) {
      EdgeFilter.answer(
          request, response, ApiError.routeNotFound(request.getMethod(), request.getRequestURI()));
      return;
    }
    boolean put = path.equals(SGLANG_GENERATE);
    if (!request.getMethod().equals("POST") && !(put && request.getMethod().equals("PUT"))) {
      response.setHeader("Allow", put ? "POST,PUT" : "POST");
      EdgeFilter.answer(
          response, ApiError.of(405, request.getMethod() + " is not allowed here; use POST"));
      return;
    }
    serve(api, request, response);
  }

  private void serve(Api api, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    CountingMark.take(request);
    var call = TextCalls.incoming(request, TextCalls.headers(request));
    var async = request.startAsync(request, response);
    async.setTimeout(0); // reads and writes have limits of their own
    var answer = new ServletAnswer(response, async::complete);
    try {
      texts.serve(api, call, answer);
    } catch (RuntimeException | Error e) {
      async.complete();
      throw e;
    }
  }
}
