package io.dynamo.worker.engine.remote;

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
import org.jspecify.annotations.Nullable;

/**
 * The stream of one generation, and what ends it early: its requester, its deadline, or the end of
 * the engine. One thread generates; others cancel and shut down, and wake it.
 */
final class GenerationCourse {
  private final GenerationWork work;
  private final Runnable wake;
  private final TokenStream stream;
  private final long deadlineNanos;
  private volatile boolean givenUp;
  private volatile boolean shutDown;
  private Cancellation.@Nullable Registration registration;

  /**
   * @param streamBuffer items held without demand
   * @param wake called on any thread when the generation may go on, or should end early
   */
  GenerationCourse(GenerationWork work, RequestContext context, int streamBuffer, Runnable wake) {
    this.work = work;
    this.wake = wake;
    this.deadlineNanos = context.deadline().nanoTime();
    this.stream = new TokenStream(streamBuffer, wake, this::giveUp);
  }

  TokenStream stream() {
    return stream;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /** Subscribes to the requester's cancellation; called before the generation starts. */
  void follow(Cancellation cancellation) {
    registration = cancellation.onCancel(_ -> giveUp());
  }

  private void giveUp() {
    givenUp = true;
    wake.run();
  }

  /** Whether the requester has cancelled the generation. */
  boolean isGivenUp() {
    return givenUp;
  }

  /** Ends the generation so that it migrates. */
  void shutDown() {
    shutDown = true;
    wake.run();
  }

  /** Returns the action that ends the generation early, or null when it goes on. */
  @Nullable Runnable ending() {
    if (givenUp) {
      return finish(FinishReason.CANCELLED);
    }
    if (shutDown) {
      return () -> stream.fail(TokenStream.shutDown());
    }
    if (System.nanoTime() - deadlineNanos >= 0) {
      var late =
          new DeadlineExceededException(
              "the deadline passed after %d of %d tokens".formatted(work.made(), work.budget()));
      return () -> stream.fail(late);
    }
    return null;
  }

  /** Returns the action that ends the stream with the present counts. */
  Runnable finish(FinishReason reason) {
    var last = EngineOutput.finish(reason, work.usage());
    return () -> stream.finish(last);
  }

  /** Returns the action that ends the stream in an error. */
  Runnable failure(Throwable cause) {
    var typed =
        switch (cause) {
          case DynamoException known -> known;
          case RuntimeException unknown ->
              new EngineFailedException(
                  ErrorCode.BACKEND_UNKNOWN, "the engine failed: " + unknown, unknown);
          default -> // its place must not be lost with its thread
              new WorkerLostException(
                  ErrorCode.BACKEND_STREAM_INCOMPLETE, "the engine failed: " + cause, cause);
        };
    return () -> stream.fail(typed);
  }

  /** Ends the generation by {@code how}; called once, by the thread that generates. */
  void end(Runnable how) {
    if (registration != null) {
      registration.close();
    }
    work.settled();
    how.run();
  }
}
