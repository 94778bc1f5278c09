/**
 * The agreements that two processes need before they can communicate: how bodies are encoded, whom
 * they trust, and how addresses are written.
 */
@NullMarked
package io.dynamo.net;

import org.jspecify.annotations.NullMarked;
