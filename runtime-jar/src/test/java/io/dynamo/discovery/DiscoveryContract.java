package io.dynamo.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.DiscoveryEvent.Added;
import io.dynamo.discovery.DiscoveryEvent.Lost;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.Recorder;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The contract of every backend of discovery. */
public abstract class DiscoveryContract {
  private static final EndpointId ENDPOINT = new EndpointId("dynamo", "backend", "generate");

  private final List<Discovery> open = new ArrayList<>();

  /** Another process of the same store. */
  protected abstract Discovery join(InstanceId id);

  private Discovery joined(long id) {
    var discovery = join(new InstanceId(id));
    open.add(discovery);
    return discovery;
  }

  @AfterEach
  void closeAll() {
    open.forEach(Discovery::close);
  }

  /** An id as large as the backend allows, unsigned. */
  protected long largeId() {
    return -2;
  }

  protected static Instance instance(long id) {
    return instance(id, "10.0.0.7:1");
  }

  protected static Instance instance(long id, String address) {
    var instance = new InstanceId(id);
    return new Instance(
        ENDPOINT,
        instance,
        new TransportAddress.Tcp(address, instance.hex() + "/" + ENDPOINT),
        null,
        PayloadFormat.MSGPACK);
  }

  @Test
  void aWatchTellsWhatIsThereAndThenWhatChanges() throws InterruptedException {
    var worker = joined(largeId());
    var frontend = joined(2);
    worker.register(instance(largeId()));
    var heard = new Recorder<DiscoveryEvent<Instance>>();
    frontend.watch(Instance.class, heard);

    assertThat(heard.next()).isEqualTo(new Added<>(instance(largeId())));
    var handle = frontend.register(instance(2));
    assertThat(heard.next()).isEqualTo(new Added<>(instance(2)));
    handle.close();
    assertThat(heard.next()).isEqualTo(new Lost<>(instance(2)));
  }

  @Test
  void recordsVanishWithTheirProcess() throws InterruptedException {
    var worker = joined(7);
    var heard = new Recorder<DiscoveryEvent<Instance>>();
    joined(8).watch(Instance.class, heard);
    worker.register(instance(7));
    assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));

    worker.close();

    assertThat(heard.next()).isEqualTo(new Lost<>(instance(7)));
  }

  @Test
  void removedInstanceMayReturn() throws InterruptedException {
    var worker = joined(7);
    var heard = new Recorder<DiscoveryEvent<Instance>>();
    worker.watch(Instance.class, heard);
    worker.register(instance(7)).close();
    worker.register(instance(7, "10.0.0.7:2"));

    DiscoveryEvent<Instance> last = heard.next();
    while (!last.equals(new Added<>(instance(7, "10.0.0.7:2")))) {
      last = heard.next();
    }
    assertThat(heard.rest()).isEmpty();
  }

  @Test
  void anEqualRecordMayBeWrittenAgainAnotherMayNot() {
    var worker = joined(7);
    worker.register(instance(7));
    worker.register(instance(7));

    assertThatThrownBy(() -> worker.register(instance(7, "10.0.0.7:2")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("v1/instances/dynamo/backend/generate/7");
  }

  @Test
  void aRecordIsReplacedWithoutBeingGoneBetween() throws InterruptedException {
    var worker = joined(7);
    var heard = new Recorder<DiscoveryEvent<Instance>>();
    joined(8).watch(Instance.class, heard);
    var first = worker.register(instance(7));
    assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));

    var second = worker.replace(instance(7), instance(7, "10.0.0.7:2"));
    assertThat(heard.next()).isEqualTo(new Added<>(instance(7, "10.0.0.7:2")));
    first.close();
    worker.register(instance(7, "10.0.0.7:2"));
    second.close();

    assertThat(heard.next()).isEqualTo(new Lost<>(instance(7, "10.0.0.7:2")));
  }

  @Test
  void onlyWhatIsRegisteredHereIsReplaced() {
    var worker = joined(7);
    joined(8).register(instance(8));

    assertThatThrownBy(() -> worker.replace(instance(8), instance(8, "10.0.0.7:2")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("v1/instances/dynamo/backend/generate/8 is not registered here");
    worker.register(instance(7));
    assertThatThrownBy(() -> worker.replace(instance(7), instance(9)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "v1/instances/dynamo/backend/generate/9 is not where"
                + " v1/instances/dynamo/backend/generate/7 is");
  }

  @Test
  void aClosedWatchHearsNothing() throws InterruptedException {
    var discovery = joined(7);
    var silent = new Recorder<DiscoveryEvent<Instance>>();
    discovery.watch(Instance.class, silent).close();
    var heard = new Recorder<DiscoveryEvent<Instance>>();
    discovery.watch(Instance.class, heard);
    discovery.register(instance(7));

    assertThat(heard.next()).isInstanceOf(Added.class);
    assertThat(silent.rest()).isEmpty();
  }

  @Test
  void aFailingListenerKeepsNobodyElseFromHearing() throws InterruptedException {
    var discovery = joined(7);
    discovery.watch(
        Instance.class,
        _ -> {
          throw new IllegalStateException("thrown by the test");
        });
    var heard = new Recorder<DiscoveryEvent<Instance>>();
    discovery.watch(Instance.class, heard);
    discovery.register(instance(7));
    assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
    discovery.register(instance(8));
    assertThat(heard.next()).isEqualTo(new Added<>(instance(8)));
  }

  @Test
  protected void twoThousandInstancesAreAllHeard() throws InterruptedException {
    var worker = joined(1);
    var heard = new Recorder<DiscoveryEvent<Instance>>();
    joined(2).watch(Instance.class, heard);
    var registered = new ArrayList<DiscoveryEvent<Instance>>();
    for (int i = 1; i <= 2000; i++) {
      worker.register(instance(i));
      registered.add(new Added<>(instance(i)));
    }

    assertThat(heard.next(2000)).containsExactlyInAnyOrderElementsOf(registered);
  }

  @Test
  void afterCloseNothingCanBeRegistered() {
    var discovery = joined(7);
    discovery.close();
    discovery.close();

    assertThatThrownBy(() -> discovery.register(instance(7)))
        .isInstanceOf(IllegalStateException.class);
  }
}
