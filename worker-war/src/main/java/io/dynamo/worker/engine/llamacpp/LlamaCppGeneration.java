package io.dynamo.worker.engine.llamacpp;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.TokenStream;
import io.dynamo.worker.engine.remote.LineExchange;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One text being generated, on a thread of its own, which alone offers to the stream. Other threads
 * cancel, admit and wake it.
 *
 * <p>The server streams text, and holds back a token whose bytes do not end a character; the ids of
 * tokens held back are never sent. So a text is made in requests: a streamed one until a token is
 * missing from it, then a short one that is not streamed and has all ids, then a streamed one
 * again. The code calls each of them a leg. A leg continues from the tokens delivered so far, which
 * the server finds in its cache. Tokens before {@code min_tokens} are a leg of their own, in which
 * no end token can be drawn.
 */
final class LlamaCppGeneration implements Runnable {
  /** The services of the engine that a generation uses. */
  interface Host {
    LineExchange complete(byte[] body, Runnable onNews);

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

  final TokenStream stream;
  private final Host host;
  private final Prompting prompting;
  private final GeneratedText text;
  private final long deadlineNanos;
  private final Thread thread;
  private boolean whole; // the next leg is not streamed
  private volatile boolean computing; // the first token has not arrived yet
  private volatile boolean admitted;
  private volatile boolean givenUp;
  private volatile boolean shutDown;
  private Cancellation.@Nullable Registration registration;

  LlamaCppGeneration(
      Host host,
      Prompting prompting,
      GeneratedText text,
      RequestContext context,
      int streamBuffer) {
    this.host = host;
    this.prompting = prompting;
    this.text = text;
    this.deadlineNanos = context.deadline().nanoTime();
    this.whole = prompting.isGuided();
    this.thread = Thread.ofVirtual().name("llamacpp-generation").unstarted(this);
    this.stream = new TokenStream(streamBuffer, this::wake, this::giveUp);
  }

  /** Subscribes to the requester's cancellation; called before the start. */
  void follow(Cancellation cancellation) {
    registration = cancellation.onCancel(_ -> giveUp());
  }

  /** Unsubscribes from cancellation. */
  void unfollow() {
    if (registration != null) {
      registration.close();
    }
  }

  void start() {
    thread.start();
  }

  private void wake() {
    LockSupport.unpark(thread);
  }

  private void giveUp() {
    givenUp = true;
    wake();
  }

  boolean isGivenUp() {
    return givenUp;
  }

  /** Called when the generation has got a slot of the server. */
  void admit() {
    admitted = true;
    wake();
  }

  /** Ends the generation so that it migrates; its own thread ends the stream. */
  void shutDown() {
    shutDown = true;
    wake();
  }

  /**
   * Waits for the thread's end, at most {@code most}; returns at once when it was not started.
   *
   * @return whether the thread has ended or was not started, or is the calling thread
   */
  boolean join(Duration most) throws InterruptedException {
    return thread.getState() == Thread.State.NEW
        || thread.equals(Thread.currentThread())
        || thread.join(most);
  }

  GeneratedText text() {
    return text;
  }

  /** Returns the number of prompt tokens that the server still computes. */
  int prefillTokens() {
    return computing ? text.promptTokens() - text.cachedTokens() : 0;
  }

  @Override
  public void run() {
    Runnable end;
    try {
      end = generate();
    } catch (DynamoException failure) {
      end = () -> stream.fail(failure);
    } catch (RuntimeException failure) {
      end =
          () ->
              stream.fail(
                  new EngineFailedException(
                      ErrorCode.BACKEND_UNKNOWN,
                      "llama.cpp's server said what this engine does not understand: " + failure,
                      failure));
    } catch (Error failure) { // its slot must not be lost with its thread
      end =
          () ->
              stream.fail(
                  new WorkerLostException(
                      ErrorCode.BACKEND_STREAM_INCOMPLETE,
                      "the engine failed: " + failure,
                      failure));
    }
    unfollow();
    host.settled(this);
    end.run();
  }

  private Runnable generate() {
    while (!admitted) {
      var early = ending();
      if (early != null) {
        return early;
      }
      LockSupport.parkNanos(this, Math.max(1, deadlineNanos - System.nanoTime()));
    }
    computing = true;
    boolean again = false;
    while (true) {
      var early = ending();
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

  /** Returns the action that ends the generation early, or null when it goes on. */
  private @Nullable Runnable ending() {
    if (givenUp) {
      return finish(FinishReason.CANCELLED);
    }
    if (shutDown) {
      return () -> stream.fail(TokenStream.shutDown());
    }
    if (System.nanoTime() - deadlineNanos >= 0) {
      var late =
          new DeadlineExceededException(
              "the deadline passed after %d of %d tokens".formatted(text.made(), text.budget()));
      return () -> stream.fail(late);
    }
    return null;
  }

  private Runnable finish(FinishReason reason) {
    var last = EngineOutput.finish(reason, text.usage());
    return () -> stream.finish(last);
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
    try (var exchange = host.complete(body, this::wake)) {
      while (true) {
        var line = awaitLine(exchange);
        if (line == null) {
          var early = ending();
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
      if (e instanceof ConnectException || e instanceof HttpConnectTimeoutException) {
        throw new WorkerLostException(
            ErrorCode.BACKEND_CANNOT_CONNECT, "llama.cpp's server cannot be reached: " + e, e);
      }
      if (text.made() == from) {
        throw new LegBroken(e);
      }
      throw lost("broke a stream off: " + e, e);
    }
  }

  private @Nullable Runnable afterLeg(Step.End why, boolean early) {
    return switch (why) {
      case END_OF_TEXT -> finish(FinishReason.EOS);
      case LIMIT -> early || text.made() == text.budget() ? finish(FinishReason.LENGTH) : null;
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
      if (exchange.isOver() || ending() != null) {
        return null;
      }
      long now = System.nanoTime();
      if (now - silentUntil >= 0 && !prompting.isGuided()) { // a guided answer arrives all at once
        throw new WorkerLostException(
            ErrorCode.BACKEND_RESPONSE_TIMEOUT,
            "llama.cpp's server sent nothing for %s; see dynamo.worker.llamacpp.silence-timeout"
                .formatted(host.silence()));
      }
      long wait =
          prompting.isGuided() ? deadlineNanos - now : Math.min(silentUntil, deadlineNanos) - now;
      LockSupport.parkNanos(this, Math.max(1, wait));
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
      return () -> stream.finish(item);
    }
    while (!stream.hasRoom()) {
      if (ending() != null) {
        text.takeBack();
        return ending(); // with the current counts; the reason to end persists
      }
      LockSupport.parkNanos(this, Math.max(1, deadlineNanos - System.nanoTime()));
    }
    stream.offer(item);
    return null;
  }
}
