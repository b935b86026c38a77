// java -cp "JARS/*" Place.java [SIDECAR] [NAME]     Java 17 or later, with jackson-databind, -core and -annotations in JARS.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

public final class Place {
    private static final JsonMapper JSON = new JsonMapper();
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    /** What became of a transaction. */
    sealed interface Outcome {
        record Committed(JsonNode result) implements Outcome {}

        /** By the application; code and details are its own words. */
        record Refused(String code, JsonNode details, String message) implements Outcome {}

        /** Nothing happened; the same may succeed later. */
        record Later(String message) implements Outcome {}

        /** A mistake of the caller. */
        record Rejected(int status, String message) implements Outcome {}

        /** It may have committed: keep the id, and ask, or send the same again. */
        record InDoubt(String id) implements Outcome {}
    }

    private record Answer(int status, Duration retryAfter, JsonNode body) {}

    /** Until it has an outcome, or the time is over. The request's id makes each sending after the first harmless. */
    static Outcome transact(String app, ObjectNode request, Duration timeout) throws InterruptedException {
        Instant end = Instant.now().plus(timeout);
        String id = request.get("id").asText();
        boolean mayHaveRun = false;
        boolean ask = false;
        for (long pause = 50; ; pause = Math.min(2 * pause, 1000)) {
            long left = Math.max(Duration.between(Instant.now(), end).toMillis(), 1);
            Answer answer = null;
            try {
                if (ask) {
                    String escaped = URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20");
                    answer = call(app + "/v1/transactions/" + escaped, null, left);
                }
                // 404: it is not known, which decides nothing while it is under way. Sending it again does.
                if (answer == null || answer.status == 404) {
                    request.put("timeoutMs", left);
                    answer = call(app + "/v1/transactions", request, left);
                }
            } catch (IOException lost) {
                answer = null; // it may have been executed
            }

            JsonNode body = answer == null ? JSON.createObjectNode() : answer.body;
            String outcome = body.path("outcome").asText();
            JsonNode abort = body.path("abort");
            boolean aborted = outcome.equals("aborted");
            boolean ofWorker = body.path("type").asText().startsWith("urn:snapper:");
            int status = answer == null ? 0 : answer.status;
            if (outcome.equals("committed")) {
                return new Outcome.Committed(body.path("result"));
            }

            if (aborted && !abort.path("retryable").asBoolean()) {
                return new Outcome.Refused(
                    abort.path("code").asText(), abort.path("details"), abort.path("message").asText());
            }

            if (aborted || ((status == 429 || status == 503) && ofWorker)) {
                ask = mayHaveRun && !aborted; // this sending was not executed; an earlier one may have been
            } else if (status >= 400 && status < 500) {
                return mayHaveRun ? new Outcome.InDoubt(id)
                    : new Outcome.Rejected(status, body.path("detail").asText());
            } else {
                // No answer, in doubt, running, or the sidecar's own word, which tells nothing of the worker.
                mayHaveRun = ask = true;
            }

            long wait = Math.max(
                answer == null ? 0 : answer.retryAfter.toMillis(),
                ThreadLocalRandom.current().nextLong(pause / 2, pause + 1));
            if (Instant.now().plusMillis(wait).isAfter(end)) {
                return mayHaveRun ? new Outcome.InDoubt(id) : new Outcome.Later(abort.path("message").asText());
            }

            Thread.sleep(wait);
        }
    }

    private static Answer call(String address, JsonNode body, long timeoutMs) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address))
            .header("content-type", "application/json").timeout(Duration.ofMillis(timeoutMs + 2000));
        if (body != null) {
            request.POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body)));
        }

        HttpResponse<String> answer = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
        Duration retryAfter = Duration.ofSeconds(answer.headers().firstValueAsLong("retry-after").orElse(0));
        JsonNode parsed;
        try {
            parsed = JSON.readTree(answer.body());
        } catch (IOException noJson) {
            parsed = JSON.createObjectNode().put("detail", answer.body());
        }

        return new Answer(answer.statusCode(), retryAfter, parsed);
    }

    private static String place(String app, String order, String customer, Consumer<ObjectNode> change, long timeoutMs)
        throws IOException, InterruptedException {
        ObjectNode request = (ObjectNode) JSON.readTree(Path.of("place.json").toFile());
        ObjectNode input = (ObjectNode) request.get("input");
        ((ObjectNode) request.get("actor")).put("id", order);
        request.put("id", "place-" + order);
        input.put("customer", customer);
        change.accept(input);
        Outcome outcome = transact(app, request, Duration.ofMillis(timeoutMs));
        if (outcome instanceof Outcome.Committed committed) {
            return String.format(Locale.ROOT, "committed %.2f", committed.result().get("total").asDouble());
        } else if (outcome instanceof Outcome.Refused refused) {
            return "refused " + refused.code();
        } else if (outcome instanceof Outcome.Rejected rejected) {
            return "rejected " + rejected.status();
        } else {
            return outcome instanceof Outcome.InDoubt ? "in doubt" : "later";
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        String sidecar = args.length > 0 ? args[0] : "http://127.0.0.1:3500";
        String name = args.length > 1 ? args[1] : "java";
        String app = sidecar.replaceAll("/$", "") + "/v1.0/invoke/orders/method";
        Consumer<ObjectNode> asItIs = input -> {};
        Consumer<ObjectNode> tooMany =
            input -> input.putArray("lines").addObject().put("article", "tea").put("count", 1000);
        System.out.println(name + "-1 " + place(app, name + "-1", name, asItIs, 30_000));
        System.out.println(name + "-1 " + place(app, name + "-1", name, asItIs, 30_000)); // the same id: the same order
        System.out.println(name + "-2 " + place(app, name + "-2", name, tooMany, 30_000));
        System.out.println(name + "-3 " + place(app, name + "-3", name, input -> input.remove("lines"), 30_000));
        System.out.println(name + "-4 " + place(app, name + "-4", name, asItIs, 5_000));
    }
}
