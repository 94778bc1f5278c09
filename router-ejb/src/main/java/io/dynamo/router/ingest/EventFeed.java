package io.dynamo.router.ingest;

import io.dynamo.concurrent.Alarms;
import io.dynamo.discovery.Discovery;
import io.dynamo.event.EventPlane;
import io.dynamo.kv.RankEvent;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * The sources of KV events and the means to follow them.
 *
 * @param discovery names the sources
 * @param decoder reads the payload of a message; throws unchecked when it is none
 * @param recoveries asks for what was lost, for all endpoints of a router
 * @param executor does the work; a virtual thread per task
 */
public record EventFeed(
    EventPlane plane,
    Discovery discovery,
    Function<byte[], List<RankEvent>> decoder,
    Recoveries recoveries,
    Alarms alarm,
    Executor executor) {}
