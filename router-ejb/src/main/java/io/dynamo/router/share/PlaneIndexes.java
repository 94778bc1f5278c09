package io.dynamo.router.share;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.error.NoWorkerException;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointServer;
import io.dynamo.router.index.TieredIndexer;
import io.dynamo.router.ingest.PlaneQuestions;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.wire.MessageCodec;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * Shares indexes over the request plane, in Dynamo's form: the endpoint {@code kv_indexer_query} of
 * the workers' component answers for each of its models. Safe for concurrent use.
 */
public final class PlaneIndexes implements IndexPlane {
  private final EndpointServer server;
  private final Discovery discovery;
  private final PayloadFormat format;
  private final MessageCodec<KvIndexQuery, KvIndexReply> codec;
  private final PlaneQuestions<KvIndexQuery, KvIndexReply> questions;
  private final Function<EndpointId, EndpointInstances> instances;
  private final Executor executor;
  private final AtomicInteger turn = new AtomicInteger();
  private final Map<EndpointId, ServedIndex> desks = new HashMap<>(); // guarded by this

  /** An open endpoint with at least one model. */
  private record ServedIndex(
      IndexEndpoint answers, EndpointServer.Served served, Discovery.Handle record) {
    void close() {
      record.close();
      served.close();
    }
  }

  /**
   * Creates an index plane on the request plane.
   *
   * @param format the payload format that requesters have to send
   * @param executor runs the answers
   */
  public PlaneIndexes(
      EndpointServer server,
      Discovery discovery,
      PayloadFormat format,
      MessageCodec<KvIndexQuery, KvIndexReply> codec,
      PlaneQuestions<KvIndexQuery, KvIndexReply> questions,
      Function<EndpointId, EndpointInstances> instances,
      Executor executor) {
    this.server = server;
    this.discovery = discovery;
    this.format = format;
    this.codec = codec;
    this.questions = questions;
    this.instances = instances;
    this.executor = executor;
  }

  private static EndpointId desk(EndpointId workers) {
    return new EndpointId(workers.namespace(), workers.component(), KvIndexQuery.ENDPOINT);
  }

  @Override
  public synchronized Serving serve(EndpointId workers, String model, TieredIndexer index) {
    var at = desk(workers);
    desks.computeIfAbsent(at, this::open).answers.put(model, index);
    return () -> end(at, model, index);
  }

  private ServedIndex open(EndpointId at) {
    var id = discovery.instanceId();
    var answers = new IndexEndpoint(executor);
    var served = server.serve(at, id, answers, codec, EndpointServer.Room.OWN);
    try {
      return new ServedIndex(
          answers,
          served,
          discovery.register(new Instance(at, id, served.address(), "cpu", format)));
    } catch (RuntimeException | Error failure) {
      served.close();
      throw failure;
    }
  }

  private synchronized void end(EndpointId at, String model, TieredIndexer index) {
    var desk = desks.get(at);
    if (desk != null && desk.answers.remove(model, index) && desk.answers.isEmpty()) {
      desks.remove(at);
      desk.close();
    }
  }

  @Override
  public CompletableFuture<KvIndexReply> ask(
      EndpointId workers, KvIndexQuery query, Deadline deadline) {
    var at = desk(workers);
    var live = instances.apply(at).live();
    if (live.isEmpty()) {
      return CompletableFuture.failedFuture(
          new NoWorkerException(
              "no router answers at %s; start one with dynamo.router.serve-indexer".formatted(at)));
    }
    var target = live.get(Math.floorMod(turn.getAndIncrement(), live.size()));
    return questions.ask(target, query, deadline);
  }
}
