/**
 * Serves the description of the API, as a document for programs and as a page for people. Start at
 * {@link io.dynamo.frontend.apidoc.ApiDocumentServlet}.
 */
@NullMarked
package io.dynamo.frontend.apidoc;

import org.jspecify.annotations.NullMarked;
