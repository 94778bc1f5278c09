package io.dynamo.worker.engine.llamacpp;

import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.remote.GenerationThread;
import io.dynamo.worker.engine.remote.LineExchange;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One text being generated, on a thread of its own. Other threads cancel, admit and wake it.
 *
 * <p>The server streams text, and holds back a token whose bytes do not end a character; the ids of
 * tokens held back are never sent. So a text is made in requests: a streamed one until a token is
 * missing from it, then a short one that is not streamed and has all ids, then a streamed one
 * again. The code calls each of them a leg. A leg continues from the tokens delivered so far, which
 * the server finds in its cache. Tokens before {@code min_tokens} are a leg of their own, in which
 * no end token can be drawn.
 */
final class LlamaCppGeneration implements GenerationThread.Work {
  /** The services of the engine that a generation uses. */
  interface Host {
    LineExchange complete(byte[] body, Runnable onNews);

    /** Called when the server could not be connected to. */
    void unreachable();

    /** Called once, before the stream ends. */
    void settled(LlamaCppGeneration generation);

    Duration silence();
  }

  private static final int WHOLE_LEG_TOKENS = 16;

  /**
   * Thrown when an answer broke off before it delivered a token; the request may be sent once more.
   */
  private static final class LegBroken extends Exception {
    private static final long serialVersionUID = 1L;

    LegBroken(IOException cause) {
      super(cause);
    }
  }

  private final Host host;
  private final Prompting prompting;
  private final GeneratedText text;
  private final GenerationThread thread;
  private boolean whole; // the next leg is not streamed
  private volatile boolean computing; // the first token has not arrived yet
  private volatile boolean admitted;

  LlamaCppGeneration(
      Host host,
      Prompting prompting,
      GeneratedText text,
      RequestContext context,
      int streamBuffer) {
    this.host = host;
    this.prompting = prompting;
    this.text = text;
    this.whole = prompting.isGuided();
    this.thread = new GenerationThread("llamacpp-generation", this, context, streamBuffer);
  }

  GenerationThread thread() {
    return thread;
  }

  /** Called when the generation has got a slot of the server. */
  void admit() {
    admitted = true;
    thread.wake();
  }

  GeneratedText text() {
    return text;
  }

  /** Returns the number of prompt tokens that the server still computes. */
  int prefillTokens() {
    return computing ? text.promptTokens() - text.cachedTokens() : 0;
  }

  @Override
  public Usage usage() {
    return text.usage();
  }

  @Override
  public int made() {
    return text.made();
  }

  @Override
  public int budget() {
    return text.budget();
  }

  @Override
  public void settled() {
    host.settled(this);
  }

  @Override
  public Runnable generate() {
    try {
      return legs();
    } catch (DynamoException failure) {
      throw failure;
    } catch (RuntimeException failure) {
      throw new EngineFailedException(
          ErrorCode.BACKEND_UNKNOWN,
          "llama.cpp's server said what this engine does not understand: " + failure,
          failure);
    }
  }

  private Runnable legs() {
    while (!admitted) {
      var early = thread.ending();
      if (early != null) {
        return early;
      }
      thread.await();
    }
    computing = true;
    boolean again = false;
    while (true) {
      var early = thread.ending();
      if (early != null) {
        return early;
      }
      try {
        var end = leg();
        again = false;
        if (end != null) {
          return end;
        }
      } catch (LegBroken broken) { // the server may have closed an idle connection
        if (again) {
          throw lost("let go of a request twice", broken.getCause());
        }
        again = true;
      }
    }
  }

  private static WorkerLostException lost(String what, @Nullable Throwable cause) {
    return new WorkerLostException(
        ErrorCode.BACKEND_STREAM_INCOMPLETE, "llama.cpp's server " + what, cause);
  }

  /**
   * Generates tokens with one request.
   *
   * @return the action that ends the text; null when another leg follows
   */
  private @Nullable Runnable leg() throws LegBroken {
    int from = text.made();
    int most = text.budget() - from;
    if (from < text.leastTokens()) {
      most = Math.min(most, text.leastTokens() - from);
    }
    if (whole && !prompting.isGuided()) {
      most = Math.min(most, WHOLE_LEG_TOKENS);
    }
    var body = prompting.body(text.tokens(), from, most, !whole);
    try (var exchange = host.complete(body, thread::wake)) {
      while (true) {
        var line = awaitLine(exchange);
        if (line == null) {
          var early = thread.ending();
          if (early != null) {
            return early;
          }
          if (exchange.status() == 200) {
            throw lost("ended a stream before its end", null);
          }
        }
        if (line == null || exchange.status() != 200) {
          throw Step.refusal(exchange.status(), line == null ? new byte[0] : line);
        }
        var step = Step.of(line);
        if (step == null) {
          continue;
        }
        if (step.cached() != null && from == 0) {
          text.foundCached(step.cached());
        }
        var end = take(step, from);
        if (end != null) {
          return end;
        }
        if (text.made() - from < step.predicted()) {
          if (whole) {
            throw lost("left out tokens of an answer that was not streamed", null);
          }
          whole = true;
          return null;
        }
        if (step.end() != null) {
          whole = false;
          return afterLeg(step.end(), text.made() - from < most);
        }
      }
    } catch (IOException e) {
      if (e instanceof ConnectException) {
        host.unreachable();
        throw new WorkerLostException(
            ErrorCode.BACKEND_ENGINE_SHUTDOWN, "llama.cpp's server cannot be reached: " + e, e);
      }
      if (text.made() == from) {
        throw new LegBroken(e);
      }
      throw lost("broke a stream off: " + e, e);
    }
  }

  private @Nullable Runnable afterLeg(Step.End why, boolean early) {
    return switch (why) {
      case END_OF_TEXT -> thread.finish(FinishReason.EOS);
      case LIMIT ->
          early || text.made() == text.budget() ? thread.finish(FinishReason.LENGTH) : null;
      case OTHER -> throw lost("ended a stream without a reason", null);
    };
  }

  /** Returns the next line; null after the last line, or when the generation ends early. */
  private byte @Nullable [] awaitLine(LineExchange exchange) throws IOException {
    long silentUntil = System.nanoTime() + host.silence().toNanos();
    while (true) {
      var line = exchange.line();
      if (line != null) {
        return line;
      }
      if (exchange.isOver() || thread.ending() != null) {
        return null;
      }
      if (System.nanoTime() - silentUntil >= 0
          && !prompting.isGuided()) { // a guided answer arrives all at once
        throw new WorkerLostException(
            ErrorCode.BACKEND_STREAM_INCOMPLETE,
            "llama.cpp's server sent nothing for %s; see dynamo.worker.llamacpp.silence-timeout"
                .formatted(host.silence()));
      }
      if (prompting.isGuided()) {
        thread.await();
      } else {
        thread.awaitUntil(silentUntil);
      }
    }
  }

  /**
   * Appends the tokens of a step, unless one is missing before them.
   *
   * @return the action that ends the text; null when it goes on
   */
  private @Nullable Runnable take(Step step, int from) {
    if (text.made() - from + step.tokens().length < step.predicted()) {
      return null;
    }
    int rated = 0;
    for (int token : step.tokens()) {
      Step.@Nullable Rated how = null;
      if (rated < step.rated().size() && step.rated().get(rated).token() == token) {
        how = step.rated().get(rated++);
      }
      var end = append(token, how);
      if (end != null) {
        return end;
      }
    }
    return null;
  }

  private @Nullable Runnable append(int token, Step.@Nullable Rated how) {
    var item = text.append(token, how);
    computing = false;
    if (item.finishReason() != null) {
      return () -> thread.stream().finish(item);
    }
    if (thread.awaitRoom() != null) {
      text.takeBack();
      return thread.ending(); // with the current counts; the reason to end persists
    }
    thread.stream().offer(item);
    return null;
  }
}
