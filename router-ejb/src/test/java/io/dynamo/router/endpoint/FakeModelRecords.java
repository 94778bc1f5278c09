package io.dynamo.router.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.model.ModelCard;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A discovery that announces the model records that the test adds. */
final class FakeModelRecords implements Discovery {
  private final List<Consumer<DiscoveryEvent<ModelRecord>>> listeners = new ArrayList<>();

  /** Returns the card of a model, or with a suffix of an adapter, with few other fields. */
  static ModelRecord record(
      EndpointId endpoint, InstanceId id, String name, @Nullable String suffix) {
    return new ModelRecord(
        endpoint,
        id,
        new ModelCard(
            name, name, null, null, null, null, null, null, null, 0, 16, 0, Set.of(), "Tokens",
            null, List.of(), Map.of()),
        suffix);
  }

  List<Consumer<DiscoveryEvent<ModelRecord>>> listeners() {
    return listeners;
  }

  void add(ModelRecord record) {
    tell(new DiscoveryEvent.Added<>(record));
  }

  void lose(ModelRecord record) {
    tell(new DiscoveryEvent.Lost<>(record));
  }

  void tell(DiscoveryEvent<ModelRecord> event) {
    listeners.forEach(listener -> listener.accept(event));
  }

  @Override
  public InstanceId instanceId() {
    return new InstanceId(1);
  }

  @Override
  public Handle register(DiscoveryRecord record) {
    throw new UnsupportedOperationException("ranks are only read");
  }

  @Override
  public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
    throw new UnsupportedOperationException("ranks are only read");
  }

  @Override
  @SuppressWarnings("unchecked") // only model records are watched
  public <R extends DiscoveryRecord> Handle watch(
      Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
    assertThat(kind).isEqualTo(ModelRecord.class);
    var wanted = (Consumer<DiscoveryEvent<ModelRecord>>) (Consumer<?>) listener;
    listeners.add(wanted);
    return () -> listeners.remove(wanted);
  }

  @Override
  public void close() {}
}
