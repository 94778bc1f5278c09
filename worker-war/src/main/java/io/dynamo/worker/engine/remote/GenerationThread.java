package io.dynamo.worker.engine.remote;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.inference.FinishReason;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.TokenStream;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The virtual thread on which one text is generated, and its stream, to which this thread alone
 * offers. Other threads start, cancel, wake and shut it down; its deadline ends it, too.
 */
public final class GenerationThread {
  /** Generates the text of one generation, on its thread. */
  public interface Work extends GenerationWork {
    /**
     * Generates the text.
     *
     * @return the action that ends the stream
     * @throws RuntimeException to end the stream in an error
     */
    Runnable generate();
  }

  private final Work work;
  private final Thread thread;
  private final GenerationCourse course;

  /**
   * @param name name of the thread
   * @param streamBuffer items held without demand
   */
  public GenerationThread(String name, Work work, RequestContext context, int streamBuffer) {
    this.work = work;
    this.thread = Thread.ofVirtual().name(name).unstarted(this::run);
    this.course = new GenerationCourse(work, context, streamBuffer, this::wake);
  }

  public TokenStream stream() {
    return course.stream();
  }

  /** Subscribes to the requester's cancellation; called before the start. */
  public void follow(Cancellation cancellation) {
    course.follow(cancellation);
  }

  /** Starts the thread; called once. */
  public void start() {
    thread.start();
  }

  /** Ends the thread's present wait, if it waits. */
  public void wake() {
    LockSupport.unpark(thread);
  }

  /** Whether the requester has cancelled the generation. */
  public boolean isGivenUp() {
    return course.isGivenUp();
  }

  /** Ends the generation so that it migrates; its own thread ends the stream. */
  public void shutDown() {
    course.shutDown();
  }

  /**
   * Shuts {@code all} down and waits for their ends, at most {@code most} together.
   *
   * @param log logs those that still run then
   * @param what their engine, for the log
   */
  public static void endAll(
      List<GenerationThread> all, Duration most, System.Logger log, Object what) {
    all.forEach(GenerationThread::shutDown);
    try {
      long until = System.nanoTime() + most.toNanos();
      for (var one : all) {
        if (!one.join(Duration.ofNanos(Math.max(1, until - System.nanoTime())))) {
          log.log(Level.WARNING, "a generation of {0} still runs after {1}", what, most);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns whether the thread has ended or was not started, or is the calling thread. */
  private boolean join(Duration most) throws InterruptedException {
    return thread.getState() == Thread.State.NEW
        || thread.equals(Thread.currentThread())
        || thread.join(most);
  }

  private void run() {
    Runnable end;
    try {
      end = work.generate();
    } catch (RuntimeException | Error failure) {
      end = course.failure(failure);
    }
    course.end(end);
  }

  /** Returns the action that ends the generation early, or null when it goes on. */
  public @Nullable Runnable ending() {
    return course.ending();
  }

  /** Returns the action that ends the stream with the present counts. */
  public Runnable finish(FinishReason reason) {
    return course.finish(reason);
  }

  /** Waits until it is woken or the deadline passes; may return early. For its own thread. */
  public void await() {
    awaitUntil(course.deadlineNanos());
  }

  /** Waits as {@link #await} does, and no longer than to {@code nanoTime}. For its own thread. */
  public void awaitUntil(long nanoTime) {
    long now = System.nanoTime();
    LockSupport.parkNanos(
        this, Math.max(1, Math.min(nanoTime - now, course.deadlineNanos() - now)));
  }

  /**
   * Waits until the stream takes another item. For its own thread.
   *
   * @return the action that ends the generation before that; null when there is room
   */
  public @Nullable Runnable awaitRoom() {
    while (!course.stream().hasRoom()) {
      var early = ending();
      if (early != null) {
        return early;
      }
      await();
    }
    return null;
  }
}
