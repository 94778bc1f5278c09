package io.dynamo.frontend.console;

import jakarta.servlet.http.HttpServletResponse;

/**
 * The headers of the console's answers: scripts, styles and data come from this server alone, no
 * other page can embed or read them, and nothing is kept.
 */
final class ConsoleHeaders {
  /** The policy of pages: no inline script or style, no text that becomes markup. */
  static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
          + " require-trusted-types-for 'script'; trusted-types 'none'";

  private ConsoleHeaders() {}

  static void put(HttpServletResponse response) {
    response.setHeader("Content-Security-Policy", POLICY);
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("X-Frame-Options", "DENY");
    response.setHeader("Referrer-Policy", "no-referrer");
    response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
    response.setHeader("Cross-Origin-Resource-Policy", "same-origin");
    response.setHeader("Cache-Control", "no-store");
  }
}
