package io.dynamo.frontend.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Keeps what a generation delivers. */
final class RecordingClient implements Flow.Subscriber<EngineOutput> {
  long wanted = Long.MAX_VALUE;
  final List<Integer> tokens = new ArrayList<>();
  @Nullable FinishReason finish;
  @Nullable Usage usage;
  @Nullable Throwable failure;
  boolean completed;
  private Flow.@Nullable Subscription subscription;

  @Override
  public void onSubscribe(Flow.Subscription given) {
    subscription = given;
    given.request(wanted);
  }

  void ask(long count) {
    Objects.requireNonNull(subscription).request(count);
  }

  void cancel() {
    Objects.requireNonNull(subscription).cancel();
  }

  @Nullable Usage usage() {
    return usage;
  }

  ErrorCode code() {
    return ((DynamoException) Objects.requireNonNull(failure)).code();
  }

  @Override
  public void onNext(EngineOutput item) {
    for (int token : item.tokenIds()) {
      tokens.add(token);
    }
    if (item.finishReason() != null) {
      finish = item.finishReason();
    }
    if (item.usage() != null) {
      usage = item.usage();
    }
  }

  @Override
  public void onError(Throwable cause) {
    assertThat(failure).isNull();
    assertThat(completed).isFalse();
    failure = cause;
  }

  @Override
  public void onComplete() {
    assertThat(failure).isNull();
    completed = true;
  }
}
