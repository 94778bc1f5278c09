/** What two processes must agree on before they can talk: how bodies are encoded. */
@NullMarked
package io.dynamo.net;

import org.jspecify.annotations.NullMarked;
