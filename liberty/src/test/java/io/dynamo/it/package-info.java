/**
 * End-to-end tests against real servers. Start at {@link io.dynamo.it.ServerProcess} for servers of
 * a test's own and at {@link io.dynamo.it.ChatClient} for a client that forgives nothing. Those
 * tagged {@code build-server} ask the server that the build starts, on class folders or on the EAR;
 * the others start theirs on the EAR.
 */
@NullMarked
package io.dynamo.it;

import org.jspecify.annotations.NullMarked;
