package io.dynamo.discovery.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.TestSettings;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls to discovery while another call waits for a store that does not answer. */
class OwnRecordsTest {
  private final CountDownLatch calling = new CountDownLatch(1);
  private final CountDownLatch answered = new CountDownLatch(1);
  private final EtcdStore store =
      new EtcdStore(TestSettings.defaults().discovery().etcd(), 7); // connects with the first call

  /** Instead of the call: waits until the test lets it fail. */
  private void hang(Runnable call) {
    calling.countDown();
    try {
      assertThat(answered.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    throw new StoreUnavailableException("no answer", null);
  }

  private final OwnRecords own = new OwnRecords(store, this::hang, Duration.ofMillis(20));
  private final CompletableFuture<Void> registering =
      CompletableFuture.runAsync(() -> own.add(instance(1)), Thread::startVirtualThread);

  @AfterEach
  void close() {
    answered.countDown();
    store.close();
  }

  private static Instance instance(long id) {
    var endpoint = new EndpointId("dynamo", "backend", "generate");
    return new Instance(
        endpoint,
        new InstanceId(id),
        new TransportAddress.Tcp("10.0.0.7:1", id + "/" + endpoint),
        null,
        PayloadFormat.MSGPACK);
  }

  private void awaitCall() throws InterruptedException {
    assertThat(calling.await(60, TimeUnit.SECONDS)).as("a registration waits for etcd").isTrue();
  }

  @Test
  void discoveryIsWatchedAndClosedWhileARegistrationWaitsForEtcd() throws Exception {
    awaitCall();
    own.requireOpen();
    assertThat(own.close()).isTrue();
    assertThat(registering).isNotDone();
  }

  @Test
  void theNextRegistrationGivesUpInsteadOfWaitingForTheOneBeforeIt() throws Exception {
    awaitCall();
    assertThatThrownBy(() -> own.add(instance(2)))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("cannot write the record v1/instances/dynamo/backend/generate/2");
    assertThat(registering).isNotDone();
  }

  @Test
  void theLeaseIsEndedAfterTheCallThatMayWriteUnderIt() throws Exception {
    awaitCall();
    assertThat(own.close()).isTrue();
    assertThatThrownBy(own::endLease)
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("calls before this one have waited for etcd");

    answered.countDown();
    assertThat(registering).failsWithin(Duration.ofSeconds(60));
    assertThatThrownBy(own::endLease).hasMessageContaining("end the lease"); // it asks the store
  }

  @Test
  void aClosedProcessTakesNoLeaseAnew() throws Exception {
    awaitCall();
    answered.countDown();
    assertThat(registering).failsWithin(Duration.ofSeconds(60));
    own.close();
    own.writeAgain(); // would fail: no store answers
  }
}
