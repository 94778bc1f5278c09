/**
 * The agreements that two processes need before they can communicate: how bodies are encoded, and
 * whom they trust.
 */
@NullMarked
package io.dynamo.net;

import org.jspecify.annotations.NullMarked;
