package io.dynamo.worker.kv;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointServer;
import io.dynamo.wire.MessageCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * Lets routers find the ranks' KV events and query those they lost: for each rank an endpoint that
 * answers, its instance in discovery, and the event source that names both. Safe for concurrent
 * use.
 */
public final class KvSources implements AutoCloseable {
  private final KvEventPublisher events;
  private final EndpointId endpoint;
  private final PayloadFormat format;
  private final MessageCodec<KvQuery, KvReply> codec;
  private final Executor executor;
  private final List<EndpointServer.Served> served = new ArrayList<>(); // guarded by this
  private final List<Discovery.Handle> records = new ArrayList<>(); // guarded by this

  /**
   * @param endpoint the endpoint of the workers that publish {@code events}
   * @param format the payload format that requesters have to send
   * @param executor runs the answers; may run those of several ranks at once
   */
  public KvSources(
      KvEventPublisher events,
      EndpointId endpoint,
      PayloadFormat format,
      MessageCodec<KvQuery, KvReply> codec,
      Executor executor) {
    this.events = events;
    this.endpoint = endpoint;
    this.format = format;
    this.codec = codec;
    this.executor = executor;
  }

  /**
   * Serves and registers all ranks: an endpoint before its instance, an instance before its source.
   * After a failure, {@link #close} undoes the steps that succeeded.
   */
  public synchronized void open(EndpointServer server, Discovery discovery) {
    var id = discovery.instanceId();
    for (var rank : events.ranks()) {
      var name = KvEventSource.queryEndpoint(rank.publisherId());
      var query = new EndpointId(endpoint.namespace(), endpoint.component(), name);
      var handler = new KvQueryEndpoint(rank.log(), executor);
      var at = server.serve(query, id, handler, codec, EndpointServer.Room.OWN);
      served.add(at);
      var target = new Instance(query, id, at.address(), "cpu", format);
      records.add(discovery.register(target));
      var source = new KvEventSource(endpoint, rank.rank(), rank.publisherId(), target);
      records.add(discovery.register(source.toRecord()));
    }
  }

  /** Unregisters the records, each source before its instance; queries are still answered. */
  public synchronized void unregister() {
    records.reversed().forEach(Discovery.Handle::close);
    records.clear();
  }

  /** Unregisters the records and closes the endpoints. Idempotent. */
  @Override
  public synchronized void close() {
    unregister();
    served.forEach(EndpointServer.Served::close);
    served.clear();
  }
}
