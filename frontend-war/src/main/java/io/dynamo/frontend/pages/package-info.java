/**
 * Serves the pages of modules that no port reaches ({@code /metrics}, {@code /health}, {@code
 * /worker}) under the rules of all other routes. Start at {@link
 * io.dynamo.frontend.pages.InnerPagesServlet}.
 */
@NullMarked
package io.dynamo.frontend.pages;

import org.jspecify.annotations.NullMarked;
