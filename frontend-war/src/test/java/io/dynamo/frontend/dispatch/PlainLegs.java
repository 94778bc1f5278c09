package io.dynamo.frontend.dispatch;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Retries legs as fault tolerance does, without a container. */
public final class PlainLegs implements Legs {
  @Override
  public CompletionStage<Void> run(Generation generation) {
    return generation
        .startLeg()
        .handle(
            (_, failure) -> {
              var cause = failure instanceof CompletionException ? failure.getCause() : failure;
              if (cause == null) {
                return CompletableFuture.<Void>completedFuture(null);
              }
              return cause instanceof LegLostException
                  ? run(generation)
                  : CompletableFuture.<Void>failedFuture(cause);
            })
        .thenCompose(next -> next);
  }
}
