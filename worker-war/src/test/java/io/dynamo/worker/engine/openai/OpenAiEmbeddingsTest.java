package io.dynamo.worker.engine.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.json.Json;
import io.dynamo.worker.engine.Embedded;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.llama.TinyModel;
import io.dynamo.worker.engine.remote.FakeEmbeddings;
import io.dynamo.worker.engine.remote.RemoteEmbedder;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class OpenAiEmbeddingsTest {
  @Test
  void promptsAreSentAsTextAndCountedByTheServer() throws Exception {
    var vocabulary =
        TextVocabulary.of(
            Json.readObject(Files.readAllBytes(TinyModel.DIRECTORY.resolve("tokenizer.json"))));
    try (var server = new FakeEmbeddings();
        var engine =
            new RemoteEmbedder(
                SharedLoops.LOOPS,
                new RemoteEmbedder.Config(
                    server.address(),
                    "dynamo.worker.remote.url",
                    null,
                    null,
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(30),
                    2,
                    8,
                    true),
                new OpenAiEmbeddings(null, 4096, 4096, vocabulary))) {
      var description = engine.start();
      assertThat(description.contextLength()).isEqualTo(FakeEmbeddings.CONTEXT);
      server.heard();
      var prompts = new int[][] {{1475, 220, 299}, {333}};
      var answer = Embedded.of(engine, Embedded.request(4, null, prompts)).ended();

      var heard = server.heard();
      assertThat(heard.list("input"))
          .isEqualTo(List.of(TinyModel.text(prompts[0]), TinyModel.text(prompts[1])));
      assertThat(heard.count("dimensions")).isEqualTo(4);
      assertThat(answer.output().promptTokens()).as("the server's count").isEqualTo(2);
      assertThat(answer.vectors()).allMatch(vector -> vector.length == 4);
    }
  }
}
