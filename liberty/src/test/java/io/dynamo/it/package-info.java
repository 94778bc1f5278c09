/**
 * End-to-end tests against real servers. Start at {@link io.dynamo.it.ServerProcess} for servers of
 * a test's own and at {@link io.dynamo.it.ChatClient} for a client that forgives nothing.
 */
@NullMarked
package io.dynamo.it;

import org.jspecify.annotations.NullMarked;
