package io.dynamo.worker.engine.mock;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.worker.engine.TokenStream;
import java.util.concurrent.Flow;

/** The outgoing tokens of one generation; measures their times. The rank's thread offers items. */
final class GenerationStream implements Flow.Publisher<EngineOutput> {
  private final TokenStream items;
  private final RankSeries series;
  private final long begunNanos = System.nanoTime();
  private long lastTokenNanos; // used by the rank's thread only, like tokens
  private boolean tokens; // whether a token was offered

  GenerationStream(int buffer, RankSeries series, Runnable onRoom, Runnable onAbandoned) {
    this.series = series;
    this.items = new TokenStream(buffer, onRoom, onAbandoned);
  }

  /** Whether an item may be offered; see {@link TokenStream#hasRoom}. */
  boolean hasRoom() {
    return items.hasRoom();
  }

  void offer(EngineOutput token) {
    measure(token);
    items.offer(token);
  }

  private void measure(EngineOutput token) {
    if (token.tokenIds().length == 0) {
      return;
    }
    long now = System.nanoTime();
    if (tokens) {
      series.interToken().record(now - lastTokenNanos);
    } else {
      tokens = true;
      series.firstToken().record(now - begunNanos);
    }
    lastTokenNanos = now;
  }

  void finish(EngineOutput last) {
    if (last.finishReason() != FinishReason.CANCELLED) {
      series.whole().record(System.nanoTime() - begunNanos);
    }
    measure(last);
    items.finish(last);
  }

  void fail(Throwable cause) {
    items.fail(cause);
  }

  @Override
  public void subscribe(Flow.Subscriber<? super EngineOutput> next) {
    items.subscribe(next);
  }
}
