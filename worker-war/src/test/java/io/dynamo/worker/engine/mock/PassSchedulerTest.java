package io.dynamo.worker.engine.mock;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.mock.Scheduling.Victim;
import io.dynamo.worker.engine.mock.VirtualWorker.Request;
import org.junit.jupiter.api.Test;

/** Tests the same set-ups as Dynamo's own scheduler tests: blocks of 4 tokens, 10 ms and 2 ms. */
class PassSchedulerTest {
  private static final long MILLI = 1_000_000;

  private static VirtualWorker worker(int blocks, int passTokens, boolean caching, Victim victim) {
    var how = new Scheduling(passTokens, true, caching, victim, new PassTiming.Fixed(10, 2), 1, 1);
    return new VirtualWorker(how, 256, 4, blocks, 4096);
  }

  private static VirtualWorker worker(int blocks) {
    return worker(blocks, 8192, true, Victim.NEWEST);
  }

  private static Request add(VirtualWorker to, int first, int prompt, int output) {
    var request = to.add(0, Requests.prompt(first, prompt), output);
    to.enqueue(request);
    return request;
  }

  @Test
  void prefillHoldsTheFirstTokenAndEachOtherTakesAStep() {
    var worker = worker(16);
    var one = worker.add(0, Requests.prompt(1, 4), 2);
    worker.run();
    assertThat(one.firstToken).isEqualTo(10 * MILLI);
    assertThat(one.lastToken).isEqualTo(12 * MILLI);
  }

  @Test
  void secondPromptIsCutToFitIntoThePass() {
    var worker = worker(6, 12, false, Victim.NEWEST);
    var one = add(worker, 1, 8, 2);
    var two = add(worker, 100, 8, 2);
    worker.pass(0);
    assertThat(worker.plan().running).containsExactly(one, two);
    assertThat(one.computed).isEqualTo(8);
    assertThat(two.computed).isEqualTo(4);
    assertThat(one.generated()).isEqualTo(1);
    assertThat(two.generated()).isZero();
    assertThat(worker.cache().heldBlocks()).isEqualTo(3);
  }

  @Test
  void earlierPromptHasTheWholeBudget() {
    var worker = worker(6, 4, false, Victim.NEWEST);
    var one = add(worker, 1, 8, 2);
    var two = add(worker, 100, 8, 2);
    worker.pass(0);
    worker.pass(0);
    assertThat(one.computed).isEqualTo(8);
    assertThat(two.computed).isZero();
  }

  @Test
  void newestGivesItsBlocksBackAndWaitsInFront() {
    var worker = worker(6);
    var one = add(worker, 1, 8, 8);
    var two = add(worker, 100, 8, 8);
    while (worker.plan().preemptions() == 0) {
      worker.pass(0);
    }
    assertThat(worker.plan().running).containsExactly(one);
    assertThat(worker.plan().waiting).first().isEqualTo(two);
    assertThat(two.computed).isZero();
  }

  @Test
  void oldestGivesItsBlocksBackWhereThatIsChosen() {
    var worker = worker(6, 8192, true, Victim.OLDEST);
    var one = add(worker, 1, 8, 8);
    var two = add(worker, 100, 8, 8);
    while (worker.plan().preemptions() == 0) {
      worker.pass(0);
    }
    assertThat(worker.plan().running).containsExactly(two);
    assertThat(worker.plan().waiting).first().isEqualTo(one);
  }

  @Test
  void nobodyOvertakesTheOneThatWaitsForBlocks() {
    var worker = worker(6);
    var long16 = add(worker, 1, 16, 1);
    var middle = add(worker, 100, 12, 1);
    var small = add(worker, 200, 4, 1);
    worker.pass(0);
    assertThat(long16.isFull()).isTrue();
    assertThat(worker.plan().waiting).containsExactly(middle, small);
    worker.pass(0);
    assertThat(middle.isFull()).isTrue();
    assertThat(small.isFull()).isTrue();
    assertThat(worker.plan().preemptions()).isZero();
  }

  @Test
  void samePromptAgainComputesItsLastBlockAnew() {
    var worker = worker(8);
    add(worker, 1, 8, 1);
    worker.pass(0);
    var again = add(worker, 1, 8, 1);
    worker.pass(0);
    assertThat(again.reused).isEqualTo(4);
    assertThat(worker.cache().heldBlocks()).isZero();
    assertThat(worker.cache().idleBlocks()).isEqualTo(3);
  }

  @Test
  void newestTokenHasNoBlockYet() {
    var worker = worker(4);
    add(worker, 1, 4, 3);
    add(worker, 100, 4, 3);
    worker.pass(0);
    assertThat(worker.cache().heldBlocks()).isEqualTo(2);
    worker.pass(0);
    assertThat(worker.cache().heldBlocks()).isEqualTo(4);
    assertThat(worker.plan().preemptions()).isZero();
  }

  @Test
  void suffixIsEvictedBeforeItsPrefix() {
    var worker = worker(2);
    add(worker, 1, 8, 1);
    worker.pass(0);
    add(worker, 100, 4, 1);
    worker.pass(0);
    var probe = add(worker, 1, 5, 1);
    worker.pass(0);
    assertThat(probe.reused).isEqualTo(4);
  }

  @Test
  void promptThatMustNotBeCutWaitsForAPassOfItsOwn() {
    var how = new Scheduling(12, false, true, Victim.NEWEST, new PassTiming.Fixed(10, 2), 1, 1);
    var worker = new VirtualWorker(how, 256, 4, 64, 4096);
    var one = add(worker, 1, 8, 2);
    var two = add(worker, 100, 8, 2);
    worker.pass(0);
    assertThat(one.computed).isEqualTo(8);
    assertThat(two.computed).isZero();
    worker.pass(0);
    assertThat(two.generated()).isEqualTo(1);
  }
}
