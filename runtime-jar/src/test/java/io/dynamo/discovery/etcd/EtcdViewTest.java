package io.dynamo.discovery.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.discovery.Watches;
import io.dynamo.net.PayloadFormat;
import java.util.HashMap;
import org.junit.jupiter.api.Test;

class EtcdViewTest {
  private final EtcdView view = new EtcdView();

  private static Instance instance(long id) {
    var endpoint = new EndpointId("dynamo", "backend", "generate");
    return new Instance(
        endpoint,
        new InstanceId(id),
        new TransportAddress.Tcp("10.0.0.7:1", id + "/" + endpoint),
        null,
        PayloadFormat.MSGPACK);
  }

  private static EtcdStore.Snapshot snapshot(long revision, Instance... instances) {
    var values = new HashMap<String, byte[]>();
    for (var instance : instances) {
      values.put(Watches.path(instance), DiscoveryJson.encode(instance));
    }
    return new EtcdStore.Snapshot(revision, values);
  }

  @Test
  void laterSnapshotDropsWhatIsGone() {
    view.replace(snapshot(5, instance(1), instance(2)));
    view.replace(snapshot(6, instance(2)));

    assertThat(view.records().values()).containsExactly(instance(2));
    assertThat(view.hasAwaited()).isFalse();
  }

  @Test
  void storeThatWentBackKeepsRecordsUntilTheyAreDropped() {
    view.replace(snapshot(5, instance(1), instance(2)));
    view.replace(snapshot(1));
    view.replace(snapshot(2)); // another gap meanwhile
    view.apply(
        new StoreChange.Put(3, Watches.path(instance(2)), DiscoveryJson.encode(instance(2))));

    assertThat(view.records().values()).containsExactlyInAnyOrder(instance(1), instance(2));
    view.dropAwaited();
    assertThat(view.records().values()).containsExactly(instance(2));
    assertThat(view.revision()).isEqualTo(3);
  }

  @Test
  void awaitedRecordThatIsDeletedIsGoneAtOnce() {
    view.replace(snapshot(5, instance(1)));
    view.replace(snapshot(1));
    view.apply(new StoreChange.Deleted(2, Watches.path(instance(1))));

    assertThat(view.records()).isEmpty();
    assertThat(view.hasAwaited()).isFalse();
  }
}
