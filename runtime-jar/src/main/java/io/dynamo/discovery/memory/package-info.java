/**
 * Discovery inside one process: for a server with all roles, and for tests. Start at {@link
 * io.dynamo.discovery.memory.MemoryDiscovery}.
 */
@NullMarked
package io.dynamo.discovery.memory;

import org.jspecify.annotations.NullMarked;
