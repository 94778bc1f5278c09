package io.dynamo.runtime;

import io.dynamo.event.EventPlane;
import io.dynamo.event.RawStreams;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.EndpointServer;
import io.dynamo.transfer.RegionExchange;

/**
 * The ways to other processes.
 *
 * @param loops move the bytes of all sockets
 * @param streams messages of other programs
 * @param exchange regions of memory
 */
public record Planes(
    EventLoops loops,
    EndpointClient client,
    EndpointServer server,
    EventPlane events,
    RawStreams streams,
    RegionExchange exchange) {}
