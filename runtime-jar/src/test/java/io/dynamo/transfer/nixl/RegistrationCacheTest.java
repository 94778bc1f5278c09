package io.dynamo.transfer.nixl;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RegistrationCacheTest {
  /** An agent that says which memory is registered; a test ends its commands. */
  private static final class ManualAgent implements NixlAgent {
    private final List<String> calls = new ArrayList<>();
    private final List<NixlCommand<Long>> registering = new ArrayList<>();
    private final List<NixlCommand<Long>> deregistering = new ArrayList<>();

    @Override
    public NixlCommand<String> ready() {
      return new NixlCommand<>(() -> 0, () -> {});
    }

    @Override
    public NixlCommand<Long> register(long address, long byteSize, Device device) {
      calls.add("+%d:%d %s".formatted(address, byteSize, device));
      registering.add(new NixlCommand<>(() -> 0, () -> {}));
      return registering.getLast();
    }

    @Override
    public NixlCommand<Long> deregister(long registration) {
      calls.add("-" + registration);
      deregistering.add(new NixlCommand<>(() -> 0, () -> {}));
      return deregistering.getLast();
    }

    @Override
    public NixlCommand<byte[]> metadata() {
      throw new AssertionError();
    }

    @Override
    public NixlCommand<String> watch(byte[] key, Deadline deadline) {
      throw new AssertionError();
    }

    @Override
    public NixlCommand<Long> transfer(Order order) {
      throw new AssertionError();
    }

    @Override
    public boolean end() {
      return true;
    }
  }

  private final ManualAgent agent = new ManualAgent();
  private final RegistrationCache cache = new RegistrationCache(agent, NixlLimits.STANDARD);

  private static Descriptor range(long address, long byteSize) {
    return Descriptor.of(address, byteSize, Device.HOST, null);
  }

  @Test
  void rangesWithinARegisteredOneCostNothing() {
    var pool = cache.acquire(range(1000, 100));
    agent.registering.getFirst().complete(7L);
    var parts =
        List.of(
            cache.acquire(range(1000, 100)),
            cache.acquire(range(1000, 1)),
            cache.acquire(range(1099, 1)));
    assertThat(agent.calls).containsExactly("+1000:100 cpu");
    parts.forEach(RegistrationCache.Use::release);
    parts.forEach(RegistrationCache.Use::release); // again, of no effect
    assertThat(agent.calls).hasSize(1);
    pool.release();
    assertThat(agent.calls).containsExactly("+1000:100 cpu", "-7");
    agent.deregistering.getFirst().complete(0L);
    assertThat(cache.count()).isZero();
  }

  @Test
  void rangesThatLeaveTheRegisteredOneAreRegisteredThemselves() {
    cache.acquire(range(1000, 100));
    cache.acquire(range(999, 2));
    cache.acquire(range(1099, 2));
    cache.acquire(range(1101, 1));
    cache.acquire(Descriptor.of(1000, 100, Device.of("cuda:0"), null));
    cache.acquire(Descriptor.of(1000, 100, Device.of("cuda:1"), null));
    assertThat(agent.calls).hasSize(6);
    cache.acquire(range(1050, 10)); // lies in the first, behind the nearer one that is too short
    assertThat(agent.calls).hasSize(6);
  }

  @Test
  void aLargerRangeTakesTheSmallOnesPlaceAndBothEnd() {
    var small = cache.acquire(range(1000, 10));
    var large = cache.acquire(range(1000, 20));
    agent.registering.get(0).complete(1L);
    agent.registering.get(1).complete(2L);
    small.release();
    large.release();
    assertThat(agent.calls).containsExactly("+1000:10 cpu", "+1000:20 cpu", "-1", "-2");
  }

  @Test
  void memoryIsDeregisteredOnceItsRegistrationHasEnded() {
    cache.acquire(range(1000, 10)).release();
    assertThat(agent.calls).hasSize(1);
    cache.acquire(range(1000, 10)); // not by the one that is on its way out
    assertThat(agent.calls).hasSize(2);
    agent.registering.getFirst().complete(5L);
    assertThat(agent.calls).containsExactly("+1000:10 cpu", "+1000:10 cpu", "-5");
  }

  @Test
  void aRegistrationThatFailedIsTriedAgainByTheNext() {
    var failed = cache.acquire(range(1000, 10));
    agent
        .registering
        .getFirst()
        .fail(new NixlException(NixlException.Reason.BACKEND, "no memory to pin"));
    failed.release();
    assertThat(cache.count()).isZero();
    cache.acquire(range(1000, 10));
    assertThat(agent.calls).containsExactly("+1000:10 cpu", "+1000:10 cpu");
  }
}
