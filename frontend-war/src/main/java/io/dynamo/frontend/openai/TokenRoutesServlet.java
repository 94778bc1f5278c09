package io.dynamo.frontend.openai;

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
    ServletRoutes.serve(texts, APIS, SGLANG_GENERATE, request, response);
  }
}
