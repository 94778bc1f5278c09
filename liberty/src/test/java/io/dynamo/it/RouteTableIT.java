package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every route of Dynamo's frontend at its standard path: whether it is served, by which methods,
 * and what its answer is made of. {@code PathsIT} has the same routes at other paths.
 */
class RouteTableIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  /** A method that no route has. */
  private static final String OTHER = "DELETE";

  private static HttpResponse<String> send(String method, String path, String body)
      throws Exception {
    var request =
        HttpRequest.newBuilder(SharedServer.get().uri(path))
            .timeout(Duration.ofSeconds(30))
            .header("content-type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body));
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          POST | /v1/chat/completions       | {"model":"M","messages":[{"role":"user","content":"a"}],"max_tokens":1} | 200 | "object":"chat.completion"
          POST | /v1/completions            | {"model":"M","prompt":"a","max_tokens":1}        | 200 | "object":"text_completion"
          POST | /v1/embeddings             | {"model":"none","input":"a"}                     | 404 | "code":"model_not_found"
          POST | /v1/classify               | {"model":"none","input":"a"}                     | 404 | "code":"model_not_found"
          POST | /v1/pooling                | {"model":"none","input":"a"}                     | 404 | "code":"model_not_found"
          POST | /v1/rerank                 | {"model":"none","query":"a","documents":["b"]}   | 404 | "code":"model_not_found"
          POST | /v1/responses              | {"model":"M","input":"a","max_output_tokens":1}  | 200 | "object":"response"
          POST | /v1/responses/input_tokens | {"model":"M","input":"a"}                        | 200 | "input_tokens":
          POST | /v1/images/generations     | {"model":"none","prompt":"a"}                    | 404 | "code":"model_not_found"
          POST | /v1/images/edits           | {"model":"none","prompt":"a"}                    | 400 | input_reference
          POST | /v1/videos                 | {"model":"none","prompt":"a"}                    | 404 | "code":"model_not_found"
          POST | /v1/videos/stream          | {"model":"none","prompt":"a"}                    | 404 | "code":"model_not_found"
          POST | /v1/audio/speech           | {"model":"none","input":"a"}                     | 404 | "code":"model_not_found"
          GET  | /v1/realtime               |                                                  | 400 | websocket
          POST | /v1/messages               | {"model":"M","max_tokens":1,"messages":[{"role":"user","content":"a"}]} | 200 | "type":"message"
          POST | /v1/messages/count_tokens  | {"model":"M","messages":[{"role":"user","content":"a"}]} | 200 | "input_tokens":
          POST | /inference/v1/generate     | {"model":"M","token_ids":[1],"sampling_params":{"max_tokens":1}} | 200 | "token_ids":
          POST | /generate                  | {"input_ids":[1],"sampling_params":{"max_new_tokens":1}} | 200 | "output_ids":
          PUT  | /generate                  | {"input_ids":[1],"sampling_params":{"max_new_tokens":1}} | 200 | "output_ids":
          POST | /v1/files                  | {}                                               | 415 | multipart/form-data
          GET  | /v1/files/none/content     |                                                  | 404 | "param":"id"
          POST | /v1/batches                | {}                                               | 400 | completion_window
          GET  | /v1/batches/none           |                                                  | 404 | "param":"id"
          GET  | /v1/models                 |                                                  | 200 | "object":"list"
          GET  | /v1/models/M               |                                                  | 200 | "object":"model"
          GET  | /v1/models/M/ready         |                                                  | 200 | "ready":true
          GET  | /health                    |                                                  | 200 | "status":"UP"
          GET  | /live                      |                                                  | 200 | "status":"live"
          GET  | /metrics                   |                                                  | 200 | dynamo_frontend_requests_total
          GET  | /busy_threshold            |                                                  | 200 | "thresholds":
          POST | /busy_threshold            | {"model":"M"}                                    | 200 | "active_decode_blocks_threshold":
          GET  | /openapi.json              |                                                  | 200 | "openapi":"3.1.0"
          GET  | /docs                      |                                                  | 200 | <htmllang=
          """)
  void aRouteIsServed(String method, String path, String body, int status, String part)
      throws Exception {
    var sent = body == null ? "" : body.replace("\"M\"", "\"" + Cluster.MODEL + "\"");
    var at = path.replace("/M", "/" + Cluster.MODEL);
    var answer = send(method, at, sent);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.body().replace(" ", "")).contains(part);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /v1/chat/completions   | POST
          /v1/completions        | POST
          /v1/embeddings         | POST
          /v1/classify           | POST
          /v1/pooling            | POST
          /v1/rerank             | POST
          /v1/responses          | POST
          /v1/images/generations | POST
          /v1/images/edits       | POST
          /v1/videos             | POST
          /v1/videos/stream      | POST
          /v1/audio/speech       | POST
          /v1/messages           | POST
          /inference/v1/generate | POST
          /generate              | POST, PUT
          /v1/models             | GET, HEAD
          """)
  void anotherMethodIsRefusedAndTheRoutesOwnAreNamed(String path, String methods) throws Exception {
    var answer = send(OTHER, path, "");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(405);
    assertThat(List.of(answer.headers().firstValue("allow").orElse("").split(", *")))
        .containsAll(Arrays.asList(methods.split(", ")));
    assertThat(JSON.readTree(answer.body()).at("/error/message").asText()).contains("DELETE");
  }
}
