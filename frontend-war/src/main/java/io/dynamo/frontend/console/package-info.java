/**
 * The operator's page: what the server does now, as a web page with live figures. Start at {@link
 * io.dynamo.frontend.console.ConsoleFeed}, which samples the server while a page is open. The page
 * itself is in {@code META-INF/console}; it is answered to administrators only.
 */
@NullMarked
package io.dynamo.frontend.console;

import org.jspecify.annotations.NullMarked;
