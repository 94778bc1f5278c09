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
 * @param discovery announces the sources
 * @param encoder encodes events as the payload of one message
 * @param decoder decodes a message's payload; throws an unchecked exception when it is malformed
 * @param recoveries queries workers for lost events, for all endpoints of a router
 * @param executor runs the work; a virtual thread per task
 */
public record EventFeed(
    EventPlane plane,
    Discovery discovery,
    Function<List<RankEvent>, byte[]> encoder,
    Function<byte[], List<RankEvent>> decoder,
    Recoveries recoveries,
    Alarms alarm,
    Executor executor) {}
