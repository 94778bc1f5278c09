package io.dynamo.transfer.nixl;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One command on its way through an agent, from its submission to its end. Safe for concurrent use.
 * Stages that depend on the outcome run on the agent's thread: long ones belong on an executor.
 */
public final class NixlCommand<T> {
  private final CompletableFuture<T> outcome = new CompletableFuture<>();
  private final IntSupplier phase;
  private final Runnable giveUp;

  /**
   * @param phase 0 before, 1 after and 2 well after its start
   * @param giveUp asks for an early end
   */
  public NixlCommand(IntSupplier phase, Runnable giveUp) {
    this.phase = phase;
    this.giveUp = giveUp;
  }

  /** Returns the result, or a {@link NixlException}, once the command has ended. */
  public CompletionStage<T> outcome() {
    return outcome.minimalCompletionStage();
  }

  /** Calls {@code then} with the result or the failure, now or later. */
  void whenEnded(BiConsumer<@Nullable T, @Nullable NixlException> then) {
    var _ = outcome.whenComplete((result, thrown) -> then.accept(result, failure(thrown)));
  }

  /** Returns how far the command is: 0 before, 1 after and 2 well after its start. */
  int phase() {
    return phase.getAsInt();
  }

  /** Asks for an early end, which follows soon. Of no effect on a command that has ended. */
  public void cancel() {
    if (!outcome.isDone()) {
      giveUp.run();
    }
  }

  /** Ends the command; only the first end counts. */
  public void complete(T result) {
    outcome.complete(result);
  }

  /** Ends the command; only the first end counts. */
  public void fail(NixlException why) {
    outcome.completeExceptionally(why);
  }

  /** Returns the failure of a stage as ours; null for none. */
  static @Nullable NixlException failure(@Nullable Throwable thrown) {
    return switch (thrown) {
      case null -> null;
      case NixlException known -> known;
      case CompletionException wrapped when wrapped.getCause() instanceof NixlException known ->
          known;
      default -> new NixlException(NixlException.Reason.BACKEND, "an unexpected failure", thrown);
    };
  }
}
