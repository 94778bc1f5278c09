package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.openai.client.okhttp.OkHttpClient;
import com.openai.core.ClientOptions;
import com.openai.helpers.RealtimeConnection;
import com.openai.helpers.RealtimeWebSocketOptions;
import com.openai.models.realtime.ConversationItemCreateEvent;
import com.openai.models.realtime.RealtimeClientEvent;
import com.openai.models.realtime.RealtimeConversationItemUserMessage;
import com.openai.models.realtime.RealtimeConversationItemUserMessage.Content;
import com.openai.models.realtime.RealtimeSessionCreateRequest;
import com.openai.models.realtime.ResponseCreateEvent;
import com.openai.models.realtime.SessionUpdateEvent;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;

/** A realtime session by the socket and the events of OpenAI's SDK for Java, unmodified. */
final class OpenAiJavaTalk {
  private OpenAiJavaTalk() {}

  /** Talks with the model {@code talker}. */
  static void run(URI server, String text) {
    var options =
        ClientOptions.builder()
            .httpClient(OkHttpClient.builder().build())
            .baseUrl(server + "/v1")
            .apiKey("none")
            .timeout(Duration.ofSeconds(60))
            .build();
    try (var session =
        RealtimeConnection.connect(
            options, RealtimeWebSocketOptions.builder().model("talker").build())) {
      talk(session, text);
    } finally {
      options.close();
    }
  }

  private static void talk(RealtimeConnection session, String text) {
    assertThat(session.receive().isSessionCreated()).isTrue();
    session.send(ask());
    assertThat(session.receive().asError().error().code()).contains("invalid_request");
    session.send(update(RealtimeSessionCreateRequest.builder().model("nobody").build()));
    assertThat(session.receive().asError().error().code()).contains("model_not_found");

    // the model is in the address
    session.send(update(RealtimeSessionCreateRequest.builder().instructions("Be short.").build()));
    var updated = session.receive().asSessionUpdated().session();
    assertThat(updated.asRealtimeSessionCreateRequest().instructions()).contains("Be short.");
    session.send(message(text));
    assertThat(session.receive().isConversationItemAdded()).isTrue();
    session.send(ask());
    var parts = new ArrayList<String>();
    var event = session.receive();
    for (; event.isResponseOutputTextDelta(); event = session.receive()) {
      parts.add(event.asResponseOutputTextDelta().delta());
    }
    assertThat(parts).containsExactly("part0", "part1");
    assertThat(event.isResponseDone()).as(event.toString()).isTrue();
  }

  private static RealtimeClientEvent ask() {
    return RealtimeClientEvent.ofResponseCreate(ResponseCreateEvent.builder().build());
  }

  private static RealtimeClientEvent update(RealtimeSessionCreateRequest session) {
    return RealtimeClientEvent.ofSessionUpdate(
        SessionUpdateEvent.builder().session(session).build());
  }

  private static RealtimeClientEvent message(String text) {
    var content = Content.builder().type(Content.Type.INPUT_TEXT).text(text).build();
    var item = RealtimeConversationItemUserMessage.builder().addContent(content).build();
    return RealtimeClientEvent.ofConversationItemCreate(
        ConversationItemCreateEvent.builder().item(item).build());
  }
}
