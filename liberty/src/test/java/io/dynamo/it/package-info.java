/**
 * End-to-end tests against real servers. Start at {@link io.dynamo.it.ServerProcess} for servers of
 * a test's own and at {@link io.dynamo.it.ChatClient} for a client that forgives nothing. Those
 * tagged {@code build-server} ask the server that the build starts, on class folders or on the EAR;
 * the others start theirs on the EAR. Two classes run at a time ({@code
 * junit-platform.properties}): servers, folders and ports are a class's own, {@link
 * io.dynamo.it.BuildServer} and {@link io.dynamo.it.ManyServers} say who takes turns, and who
 * measures times is isolated.
 */
@NullMarked
package io.dynamo.it;

import org.jspecify.annotations.NullMarked;
