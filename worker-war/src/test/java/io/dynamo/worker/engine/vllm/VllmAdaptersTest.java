package io.dynamo.worker.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.remote.RemoteEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Loads LoRA adapters into a server that may have them already. */
class VllmAdaptersTest {
  private static final Path FOLDER = Path.of("/adapters/poet");
  private FakeVllm server;
  private RemoteEngine engine;

  @BeforeEach
  void serve() throws Exception {
    server = new FakeVllm();
    engine = VllmEngineContractTest.engine(server.address(), Duration.ofSeconds(20), null);
    engine.start(EngineContract.DEAF);
  }

  @AfterEach
  void stop() {
    engine.close();
    server.close();
  }

  @Test
  void anAdapterIsLoadedAndListed() {
    assertThat(engine.serverAdapters()).isEmpty();
    engine.loadAdapter("poet", FOLDER);
    assertThat(server.commands).containsExactly("load poet");
    assertThat(engine.serverAdapters()).isEqualTo(Map.of("poet", FOLDER));
    engine.unloadAdapter("poet");
    assertThat(engine.serverAdapters()).isEmpty();
  }

  @Test
  void anAdapterThatAKilledWorkerLeftIsTaken() {
    server.adapters.put("poet", FOLDER.toString());
    engine.loadAdapter("poet", FOLDER);
    assertThat(server.commands).isEmpty();
  }

  @Test
  void anAdapterThatOthersLoadedFromAnotherFolderStays() {
    server.adapters.put("poet", "/adapters/older");
    assertThatThrownBy(() -> engine.loadAdapter("poet", FOLDER))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("has an adapter poet from /adapters/older");
    assertThat(server.commands).isEmpty();
  }

  @Test
  void anAdapterOfThisWorkerMakesRoomForThatOfAnotherFolder() {
    engine.loadAdapter("poet", Path.of("/adapters/older"));
    engine.loadAdapter("poet", FOLDER);
    assertThat(server.commands).containsExactly("load poet", "unload poet", "load poet");
    assertThat(engine.serverAdapters()).isEqualTo(Map.of("poet", FOLDER));
  }

  @Test
  void anAdapterComesBackWhereTheNextCannotBeLoaded() {
    var older = Path.of("/adapters/older");
    engine.loadAdapter("poet", older);
    server.brokenAdapters.add(FOLDER.toString());
    assertThatThrownBy(() -> engine.loadAdapter("poet", FOLDER))
        .hasMessageContaining("no such adapter");
    assertThat(engine.serverAdapters()).isEqualTo(Map.of("poet", older));
  }
}
