package io.dynamo.router.endpoint;

import io.dynamo.discovery.EndpointId;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.pool.SharedPools;
import io.dynamo.router.share.IndexPlane;
import io.dynamo.runtime.EndpointInstances;
import java.util.function.Function;

/**
 * The sources from which a router learns about workers.
 *
 * @param instances finds the live instances of an endpoint
 * @param cards looks up the workers' model cards
 * @param feed delivers their KV events
 * @param indexes queries and serves indexes that several routers share
 * @param pools finds the caches that workers share
 */
public record RouterInputs(
    Function<EndpointId, EndpointInstances> instances,
    WorkerCards cards,
    EventFeed feed,
    IndexPlane indexes,
    SharedPools pools) {}
