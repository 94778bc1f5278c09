package io.dynamo.worker.engine.remote;

import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.remote.RemoteEvents.RemoteEventSubscription;
import io.dynamo.worker.engine.remote.blocks.EngineBlocks;
import io.dynamo.worker.engine.remote.blocks.MergedBlocks;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The KV events of a server: its own, and those of a second publisher, if there is one, merged with
 * them. Safe for concurrent use.
 *
 * @param zmq follows events over ZeroMQ; null to ignore them
 * @param second where rank 0 of the second publisher sends its events, further ranks at the ports
 *     behind; null for none
 */
record ServerEvents(Dialect dialect, @Nullable RemoteEvents zmq, @Nullable KvEventEndpoint second) {

  /**
   * Whether the server publishes its events.
   *
   * @throws IllegalStateException when there is a second publisher, and the server publishes
   *     nothing, or the same
   */
  boolean arePublished(RemoteFacts facts) {
    boolean published = polled() != null || (zmq != null && !facts.events().isEmpty());
    if (second != null && !published) {
      throw new IllegalStateException(
          "%s publishes no KV events, so those of the second publisher at %s have nothing to be merged with; start the server with KV events, or name its only publisher in dynamo.worker.remote.kv-events and leave dynamo.worker.remote.second-kv-events out"
              .formatted(dialect.engine(), second.events()));
    }
    if (second != null
        && facts.events().stream().anyMatch(first -> first.events().equals(second.events()))) {
      throw new IllegalStateException(
          "dynamo.worker.remote.second-kv-events is %s, where %s publishes its own KV events; name another publisher, or leave it out"
              .formatted(second.events(), dialect.engine()));
    }
    return published;
  }

  private @Nullable PolledEvents polled() {
    return dialect instanceof PolledEvents polled && polled.publishesEvents() ? polled : null;
  }

  /** Starts to follow the events; null when there are none. */
  @Nullable RemoteEventSubscription follow(EngineHttp http, RemoteFacts facts, KvEventSink sink) {
    if (!arePublished(facts)) {
      return null;
    }
    if (zmq == null || second == null) {
      return first(
          http,
          facts,
          rank -> EngineBlocks.of(rank, facts.blockTokens(), facts.totalBlocks(), sink));
    }
    var merged =
        IntStream.range(0, facts.ranks())
            .mapToObj(rank -> MergedBlocks.of(rank, facts.blockTokens(), facts.totalBlocks(), sink))
            .toList();
    var own = first(http, facts, rank -> merged.get(rank).newEngine());
    try {
      var others =
          zmq.follow(
              IntStream.range(0, facts.ranks()).mapToObj(second::ofRank).toList(),
              rank -> merged.get(rank).newManager());
      return () -> {
        others.close();
        if (own != null) {
          own.close();
        }
      };
    } catch (RuntimeException failure) {
      if (own != null) {
        own.close();
      }
      throw failure;
    }
  }

  private @Nullable RemoteEventSubscription first(
      EngineHttp http, RemoteFacts facts, IntFunction<EngineBlocks> blocks) {
    var polled = polled();
    if (polled != null) {
      return polled.follow(http, facts, blocks.apply(0));
    }
    if (zmq == null) {
      return null;
    }
    int ranks = Math.min(facts.ranks(), facts.events().size());
    return zmq.follow(List.copyOf(facts.events().subList(0, ranks)), blocks);
  }
}
