package io.dynamo.frontend.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A discovery of model records that a test plays, on its own thread. */
public final class PlayedDiscovery implements Discovery {
  private final List<Consumer<DiscoveryEvent<ModelRecord>>> listeners = new ArrayList<>();

  public void add(ModelRecord record) {
    listeners.forEach(it -> it.accept(new DiscoveryEvent.Added<>(record)));
  }

  public void lose(ModelRecord record) {
    listeners.forEach(it -> it.accept(new DiscoveryEvent.Lost<>(record)));
  }

  /** Whether anybody watches. */
  public boolean isFollowed() {
    return !listeners.isEmpty();
  }

  @Override
  public InstanceId instanceId() {
    return new InstanceId(0);
  }

  @Override
  public Handle register(DiscoveryRecord record) {
    throw new AssertionError("nothing is registered here");
  }

  @Override
  public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
    throw new AssertionError("nothing is registered here");
  }

  @Override
  @SuppressWarnings("unchecked") // asked for model records only
  public <R extends DiscoveryRecord> Handle watch(
      Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
    assertThat(kind).isEqualTo(ModelRecord.class);
    var typed = (Consumer<DiscoveryEvent<ModelRecord>>) (Consumer<?>) listener;
    listeners.add(typed);
    return () -> listeners.remove(typed);
  }

  @Override
  public void close() {}
}
