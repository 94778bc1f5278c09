package io.dynamo.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.net.PayloadFormat;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A watcher in another process sees an endpoint come and go. */
class InstanceRegistrationTest {
  private static final InstanceId ID = new InstanceId(7);
  private static final Instance INSTANCE =
      new Instance(
          new EndpointId("n", "c", "e"),
          ID,
          new TransportAddress.Tcp("127.0.0.1:1", "7/n/c/e"),
          "cpu",
          PayloadFormat.MSGPACK);

  private final MemoryStore store = new MemoryStore();
  private final Discovery own = new MemoryDiscovery(store, ID);
  private final Discovery others = new MemoryDiscovery(store, new InstanceId(8));
  private final LinkedBlockingQueue<DiscoveryEvent<Instance>> seen = new LinkedBlockingQueue<>();
  private final InstanceRegistration registration = new InstanceRegistration(own, INSTANCE);

  InstanceRegistrationTest() {
    others.watch(Instance.class, seen::add);
  }

  @AfterEach
  void close() {
    own.close();
    others.close();
  }

  private DiscoveryEvent<Instance> next() throws InterruptedException {
    var event = seen.poll(60, TimeUnit.SECONDS);
    assertThat(event).isNotNull();
    return event;
  }

  @Test
  void aWatcherSeesItComeGoAndComeAgainUnderTheSameId() throws Exception {
    assertThat(registration.register()).isTrue();
    assertThat(next()).isEqualTo(new DiscoveryEvent.Added<>(INSTANCE));

    registration.unregister();
    assertThat(next()).isEqualTo(new DiscoveryEvent.Lost<>(INSTANCE));
    assertThat(registration.isFound()).isFalse();

    assertThat(registration.register()).isTrue();
    assertThat(next()).isEqualTo(new DiscoveryEvent.Added<>(INSTANCE));
  }

  @Test
  void bothMustBeAgainBeforeItIsFound() throws Exception {
    registration.register();
    next();

    assertThat(registration.setFit(false)).isFalse();
    assertThat(next()).isInstanceOf(DiscoveryEvent.Lost.class);
    registration.unregister();
    assertThat(registration.setFit(true)).as("its owner keeps it out").isFalse();
    registration.setFit(false);
    assertThat(registration.register()).as("its health keeps it out").isFalse();
    assertThat(registration.isFound()).isFalse();

    assertThat(registration.setFit(true)).isTrue();
    assertThat(next()).isEqualTo(new DiscoveryEvent.Added<>(INSTANCE));
    assertThat(seen).isEmpty();
  }

  @Test
  void repeatedCallsChangeNothing() throws Exception {
    registration.unregister();
    registration.register();
    registration.register();
    registration.setFit(true);
    next();
    registration.unregister();
    registration.unregister();

    assertThat(next()).isInstanceOf(DiscoveryEvent.Lost.class);
    assertThat(seen).isEmpty();
  }

  @Test
  void aRefusedChangeIsTriedAgainByTheNextCall() throws Exception {
    var address = new TransportAddress.Tcp("127.0.0.1:2", "7/n/c/e");
    var inTheWay =
        own.register(new Instance(INSTANCE.endpoint(), ID, address, "cpu", PayloadFormat.MSGPACK));
    next();
    assertThatIllegalStateException().isThrownBy(registration::register);
    assertThat(registration.isFound()).isFalse();
    inTheWay.close();
    next();

    assertThat(registration.setFit(true)).isTrue();
    assertThat(next()).isEqualTo(new DiscoveryEvent.Added<>(INSTANCE));
  }

  @Test
  void aClosedOneDoesNotComeBack() throws Exception {
    registration.register();
    next();
    registration.close();
    registration.close();

    assertThat(next()).isInstanceOf(DiscoveryEvent.Lost.class);
    assertThatIllegalStateException().isThrownBy(registration::register);
    assertThat(registration.setFit(true)).isFalse();
    registration.unregister();
    assertThat(seen).isEmpty();
  }
}
