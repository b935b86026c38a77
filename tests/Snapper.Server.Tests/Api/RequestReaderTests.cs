using System.Text;
using Snapper.AspNetCore.Api;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Api.Requests;
using Snapper.Protocol.Identity;
using Snapper.Runtime.Door;
using Xunit;

namespace Snapper.Server.Tests.Api;

/// <summary>What a body becomes, and what is said of one that becomes nothing.</summary>
public sealed class RequestReaderTests
{
    private const string Header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    private static readonly ApiOptions Options = new();

    [Fact]
    public void A_full_request_is_read_field_by_field()
    {
        var request = Accepted("""
            {"timeoutMs": 1500, "id": "order-4711", "access": {"Account": {"alice": 2, "bob": {"calls": 1}}, "Audit.Log": ["x"]},
             "accessMode": "audit", "mode": "pact", "input": {"to": "bob", "amount": 10.50},
             "method": "Transfer", "actor": {"id": "alice", "type": "Account"}}
            """);

        Assert.Equal(new ActorKey("Account", "alice"), request.Actor);
        Assert.Equal("Transfer", request.Method);
        Assert.Equal("""{"to": "bob", "amount": 10.50}""", Encoding.UTF8.GetString(request.Input.Span));
        Assert.Equal(TransactionMode.Pact, request.Mode);
        Assert.Equal(AccessMode.Audit, request.AccessMode);
        Assert.Equal(
            [new(new("Account", "alice"), 2), new(new("Account", "bob"), 1), new DeclaredAccess(new("Audit.Log", "x"), 1)],
            request.Access!);
        Assert.Equal("order-4711", request.Id);
        Assert.Equal(TimeSpan.FromMilliseconds(1500), request.Timeout);
        Assert.Equal("shop", request.Caller);
        Assert.Equal("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", request.TraceParent);
    }

    [Theory]
    [InlineData("\"traceparent\":\"00-11111111111111111111111111111111-2222222222222222-00\",\"tracestate\":\"a=1\"",
        "00-11111111111111111111111111111111-2222222222222222-00", "a=1")]
    [InlineData(
        "\"tracestate\":\"a\\u003d1\",\"traceparent\":\"00-11111111111111111111111111111111-2222222222222222-01\"",
        "00-11111111111111111111111111111111-2222222222222222-01", "a=1")]
    [InlineData("\"traceparent\":\"00-11111111111111111111111111111111-2222222222222222-01\",\"tracestate\":\"\\n\"",
        "00-11111111111111111111111111111111-2222222222222222-01", null)]
    [InlineData("\"traceparent\":\"00-0000\",\"tracestate\":\"a=1\"", Header, null)]
    [InlineData("\"traceparent\":\"\\ud800\"", Header, null)]
    [InlineData("\"traceparent\":null,\"tracestate\":null", Header, null)]
    [InlineData("\"tracestate\":\"a=1\"", Header, null)]
    public void A_trace_context_of_its_own_goes_before_the_header_if_it_is_valid(
        string fields, string parent, string? state)
    {
        var request = Accepted(With(fields));

        Assert.Equal((parent, state), (request.TraceParent, request.TraceState));
    }

    [Fact]
    public void A_trace_context_is_text_and_given_once()
    {
        AssertRefused(With("\"traceparent\":7"), "traceparent must be a string");
        AssertRefused(With("\"tracestate\":{}"), "tracestate must be a string");
        AssertRefused(With("\"traceparent\":\"a\",\"traceparent\":\"a\""), "traceparent appears more than once");
    }

    [Fact]
    public void What_is_left_out_or_null_takes_its_default()
    {
        foreach (var body in (string[])[
            """{"actor":{"type":"Account","id":"alice"},"method":"Balance"}""",
            """{"actor":{"type":"Account","id":"alice"},"method":"Balance","input":null,"mode":null,"accessMode":null,"access":null,"id":null,"timeoutMs":null}"""])
        {
            var request = Accepted(body);
            Assert.True(request.Input.IsEmpty);
            Assert.Equal(TransactionMode.Act, request.Mode);
            Assert.Equal(AccessMode.Strict, request.AccessMode);
            Assert.Null(request.Access);
            Assert.Null(request.Id);
            Assert.Equal(TimeSpan.FromSeconds(30), request.Timeout);
        }
    }

    [Theory]
    [InlineData(""" "access":["alice"] """, null)]
    [InlineData(""" "mode":"pact" """, null)]
    [InlineData(""" "accessMode":"audit" """, null)]
    [InlineData(""" "access":{"Account":["alice"]} """, TransactionMode.Pact)]
    [InlineData(""" "access":{"Account":["alice"]},"mode":"act" """, TransactionMode.Act)]
    [InlineData(""" "mode":"act" """, TransactionMode.Act)]
    [InlineData(""" "accessMode":"record" """, TransactionMode.Act)]
    [InlineData(""" "accessMode":"record","mode":"pact" """, TransactionMode.Act)]
    [InlineData(""" "accessMode":"record","access":{"Account":["alice"]} """, TransactionMode.Pact)]
    public void The_mode_follows_from_the_declaration_unless_given(string fields, TransactionMode? mode)
    {
        var parsed = Read(With(fields));

        Assert.Equal(mode, parsed.Request?.Mode);
        if (mode == TransactionMode.Act)
        {
            Assert.Null(parsed.Request!.Access);
        }
    }

    [Theory]
    [InlineData("a/b")]
    [InlineData("100%")]
    [InlineData("%2F")]
    [InlineData("a||b")]
    [InlineData("it's \"quoted\"")]
    [InlineData("back\\slash")]
    [InlineData("🏦👩‍👩‍👧")]
    [InlineData("ключ")]
    [InlineData("{}[]<>&+ ")]
    [InlineData("..")]
    public void An_actor_id_is_free_text(string id)
    {
        var quoted = System.Text.Json.JsonSerializer.Serialize(id);

        var request = Accepted($$$"""{"actor":{"type":"Account","id":{{{quoted}}}},"method":"M","id":{{{quoted}}},"access":{"Account":[{{{quoted}}}]}}""");

        Assert.Equal(id, request.Actor.Id);
        Assert.Equal(id, request.Id);
        Assert.Equal(id, Assert.Single(request.Access!).Actor.Id);
    }

    [Theory]
    [InlineData("""{"actor":{"type":"Account","id":"a\u0000b"},"method":"M"}""", "actor.id")]
    [InlineData("""{"actor":{"type":"Account","id":"a\nb"},"method":"M"}""", "control characters")]
    [InlineData("""{"actor":{"type":"Account","id":"a\u0085b"},"method":"M"}""", "control characters")]
    [InlineData("""{"actor":{"type":"Account","id":"\ud800"},"method":"M"}""", "surrogate")]
    [InlineData("""{"actor":{"type":"Account","id":"%2E"},"method":"M"}""", "stands for dots")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"M","id":"%2e%2E"}""", "stands for dots")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"M","access":{"Account":["%2E%2E"]}}""", "stands for dots")]
    [InlineData("""{"actor":{"type":"Account","id":"\udc00\ud800"},"method":"M"}""", "surrogate")]
    [InlineData("""{"actor":{"type":"\ud800","id":"a"},"method":"M"}""", "surrogate")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"\ud800"}""", "surrogate")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"M","id":"\ud800"}""", "surrogate")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"M","\ud800":"x"}""", "Unknown field")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"M","access":{"Account":["\ud800"]}}""", "surrogate")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"M","access":{"\ud800":["a"]}}""", "surrogate")]
    [InlineData("""{"actor":{"type":"Account","id":""},"method":"M"}""", "actor.id")]
    [InlineData("""{"actor":{"type":"","id":"a"},"method":"M"}""", "actor.type")]
    [InlineData("""{"actor":{"type":"Acc/ount","id":"a"},"method":"M"}""", "actor.type")]
    [InlineData("""{"actor":{"type":"Account@w1","id":"a"},"method":"M"}""", "actor.type")]
    [InlineData("""{"actor":{"type":"1Account","id":"a"},"method":"M"}""", "actor.type")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":""}""", "method")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"M\u0007"}""", "method")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"M","id":"a\tb"}""", "id")]
    [InlineData("""{"actor":{"type":"Account","id":5},"method":"M"}""", "actor.id must be a string")]
    [InlineData("""{"actor":{"type":null,"id":"a"},"method":"M"}""", "actor.type must be a string")]
    [InlineData("""{"actor":"alice","method":"M"}""", "actor must be an object")]
    [InlineData("""{"actor":{"type":"Account"},"method":"M"}""", "actor.id is missing")]
    [InlineData("""{"actor":{"id":"a"},"method":"M"}""", "actor.type is missing")]
    [InlineData("""{"actor":{"type":"Account","id":"a","key":"k"},"method":"M"}""", "'key' is unknown or repeated")]
    [InlineData("""{"actor":{"type":"Account","id":"a","id":"b"},"method":"M"}""", "'id' is unknown or repeated")]
    [InlineData("""{"method":"M"}""", "actor is missing")]
    [InlineData("""{"actor":{"type":"Account","id":"a"}}""", "method is missing")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":null}""", "method must be a string")]
    [InlineData("""[]""", "must be a JSON object")]
    [InlineData(""" "x" """, "must be a JSON object")]
    [InlineData("""null""", "must be a JSON object")]
    [InlineData("", "empty")]
    [InlineData("   ", "readable JSON")]
    [InlineData("{} {}", "missing")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"M"} x""", "readable JSON")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},"method":"M",}""", "readable JSON")]
    [InlineData("""{"actor":{"type":"Account","id":"a"},/* c */"method":"M"}""", "readable JSON")]
    public void A_wrong_name_or_form_is_refused_and_named(string body, string names) => AssertRefused(body, names);

    [Theory]
    [InlineData(""" "acess":{"Account":["alice"]} """, "Unknown field 'acess'")]
    [InlineData(""" "Mode":"pact" """, "Unknown field 'Mode'")]
    [InlineData(""" "transactions":[] """, "Unknown field 'transactions'")]
    [InlineData(""" "method":"N" """, "method appears more than once")]
    [InlineData(""" "m\u0065thod":"N" """, "method appears more than once")]
    [InlineData(""" "actor":{"type":"Account","id":"alice"} """, "actor appears more than once")]
    [InlineData(""" "input":1,"input":2 """, "input appears more than once")]
    [InlineData(""" "mode":"pakt" """, "mode must be")]
    [InlineData(""" "mode":1 """, "mode must be")]
    [InlineData(""" "accessMode":"loose" """, "accessMode must be")]
    [InlineData(""" "timeoutMs":"5" """, "timeoutMs")]
    [InlineData(""" "timeoutMs":1.5 """, "timeoutMs")]
    [InlineData(""" "timeoutMs":1e999 """, "timeoutMs")]
    [InlineData(""" "timeoutMs":99999999999999999999 """, "timeoutMs")]
    [InlineData(""" "timeoutMs":-1 """, "timeoutMs")]
    [InlineData(""" "timeoutMs":NaN """, "readable JSON in timeoutMs")]
    [InlineData(""" "input":NaN """, "readable JSON in input")]
    [InlineData(""" "input":{"amount":NaN} """, "readable JSON in input")]
    [InlineData(""" "input":Infinity """, "readable JSON in input")]
    [InlineData(""" "input":{"amount":-Infinity} """, "readable JSON in input")]
    [InlineData(""" "input":[1,2 """, "readable JSON in input")]
    [InlineData(""" "input":{"a":01} """, "readable JSON in input")]
    [InlineData(""" "id":7 """, "id must be a string")]
    [InlineData(""" "access":7 """, "access must be an object")]
    [InlineData(""" "access":{} """, "must contain the root")]
    [InlineData(""" "access":{"Account":7} """, "access.Account must be")]
    [InlineData(""" "access":{"Account":null} """, "access.Account must be")]
    [InlineData(""" "access":{"Account":["alice",7]} """, "must be a string")]
    [InlineData(""" "access":{"Account":["alice",null]} """, "must be a string")]
    [InlineData(""" "access":{"Account":["alice",["bob"]]} """, "must be a string")]
    [InlineData(""" "access":{"Account":["alice","alice"]} """, "access.Account.'alice' appears more than once")]
    [InlineData(""" "access":{"Account":{"alice":1,"alice":2}} """, "access.Account.'alice' appears more than once")]
    [InlineData(""" "access":{"Account":{"alice":1,"al\u0069ce":2}} """, "access.Account.'alice' appears more than once")]
    [InlineData(""" "access":{"Account":["alice"],"Account":["bob"]} """, "type Account more than once")]
    [InlineData(""" "access":{"Account":{"alice":0}} """, "access.Account.'alice' must be a whole number")]
    [InlineData(""" "access":{"Account":{"alice":-1}} """, "access.Account.'alice' must be a whole number")]
    [InlineData(""" "access":{"Account":{"alice":1.5}} """, "access.Account.'alice' must be a whole number")]
    [InlineData(""" "access":{"Account":{"alice":1e99}} """, "access.Account.'alice' must be a whole number")]
    [InlineData(""" "access":{"Account":{"alice":2147483648}} """, "access.Account.'alice' must be a whole number")]
    [InlineData(""" "access":{"Account":{"alice":"1"}} """, "access.Account.'alice' must be a whole number")]
    [InlineData(""" "access":{"Account":{"alice":null}} """, "access.Account.'alice' must be a whole number")]
    [InlineData(""" "access":{"Account":{"alice":{"calls":0}}} """, "access.Account.'alice'.calls")]
    [InlineData(""" "access":{"Account":{"alice":{"calls":[]}}} """, "access.Account.'alice'.calls")]
    [InlineData(""" "access":{"Account":{"alice":{}}} """, "access.Account.'alice'.calls is missing")]
    [InlineData(""" "access":{"Account":{"alice":{"calls":1,"calls":1}}} """, "'calls' is unknown or repeated")]
    [InlineData(""" "access":{"Account":{"alice":{"calls":1,"keys":["k"]}}} """, "'keys' is unknown or repeated")]
    [InlineData(""" "access":{"Account":{"alice":{"calls":1,"mode":"read"}}} """, "'mode' is unknown or repeated")]
    public void A_wrong_field_is_refused_and_named(string fields, string names) => AssertRefused(With(fields), names);

    [Fact]
    public void Invalid_utf_8_is_refused_wherever_it_stands()
    {
        foreach (var where in (string[])["alice", "Transfer", "hello", "order"])
        {
            var body = Encoding.UTF8.GetBytes(
                """{"actor":{"type":"Account","id":"alice"},"method":"Transfer","input":{"x":"hello"},"id":"order"}""");
            body[body.AsSpan().IndexOf(Encoding.UTF8.GetBytes(where))] = 0xC3;

            var parsed = TransactionRequestReader.Read(body, default, Options);

            Assert.Contains("not UTF-8", parsed.Single.Refusal!.Detail, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void A_byte_order_mark_is_passed_over()
    {
        byte[] body = [0xEF, 0xBB, 0xBF, .. Encoding.UTF8.GetBytes(With(""" "id":"x" """))];

        Assert.Equal("x", TransactionRequestReader.Read(body, default, Options).Single.Request!.Id);
    }

    [Fact]
    public void Lengths_are_accepted_up_to_their_limits()
    {
        Assert.NotNull(Read(With($""" "id":"{new string('i', 128)}" """)).Request);
        Assert.NotNull(Read(With($""" "id":"{string.Concat(Enumerable.Repeat("🏦", 128))}" """)).Request);
        Assert.NotNull(Read($$$"""{"actor":{"type":"{{{new string('T', 64)}}}","id":"{{{new string('a', 512)}}}"},"method":"{{{new string('m', 128)}}}"}""").Request);

        AssertRefused(With($""" "id":"{new string('i', 129)}" """), "id");
        AssertRefused(With($""" "id":"{string.Concat(Enumerable.Repeat("🏦", 129))}" """), "id");
        AssertRefused($$$"""{"actor":{"type":"{{{new string('T', 65)}}}","id":"a"},"method":"m"}""", "actor.type");
        AssertRefused($$$"""{"actor":{"type":"T","id":"{{{new string('a', 513)}}}"},"method":"m"}""", "actor.id");
        AssertRefused($$$"""{"actor":{"type":"T","id":"{{{new string('a', 500_000)}}}"},"method":"m"}""", "actor.id");
        AssertRefused($$$"""{"actor":{"type":"T","id":"a"},"method":"{{{new string('m', 129)}}}"}""", "method");
    }

    [Fact]
    public void Input_may_nest_to_the_limit_and_no_deeper()
    {
        // The request's own object is the first of the 64 levels.
        Assert.NotNull(Read(With($""" "input":{Nested(63)} """)).Request);
        AssertRefused(With($""" "input":{Nested(64)} """), "64 levels");
        AssertRefused(With($""" "input":{Nested(1_000)} """), "64 levels");
        AssertRefused(With($""" "input":{Nested(200_000)} """), "64 levels");
        AssertRefused(new string('[', 500_000), "must be a JSON object");
        AssertRefused(With(""" "input": """ + new string('[', 500_000)), "64 levels");
    }

    [Fact]
    public void Input_is_copied_out_of_the_body()
    {
        var body = Encoding.UTF8.GetBytes(With(""" "input":[1,2,3] """));
        var request = TransactionRequestReader.Read(body, default, Options).Single.Request!;

        Array.Clear(body);

        Assert.Equal("[1,2,3]", Encoding.UTF8.GetString(request.Input.Span));
    }

    [Fact]
    public void A_refusal_names_the_id_wherever_it_stands_when_it_can_be_read()
    {
        Assert.Equal("order-1", Read("""{"id":"order-1","nope":1}""").Refusal!.Id);
        Assert.Equal("order-1", Read("""{"nope":{"id":"inner"},"id":"order-1"}""").Refusal!.Id);
        Assert.Null(Read("""{"nope":1,"id":"a\u0000"}""").Refusal!.Id);
        Assert.Null(Read("""{"nope":1,"id":{"x":1}}""").Refusal!.Id);
        Assert.Null(Read("""{"nope":1,"id" """).Refusal!.Id);
    }

    [Fact]
    public void Messages_echo_little_of_the_input()
    {
        var longName = new string('n', 100_000);
        foreach (var body in (string[])[
            With($$""" "{{longName}}":1 """),
            With($$""" "access":{"Account":["{{longName}}"]} """),
            With($$""" "access":{"{{longName}}":["alice"]} """),
            With($$""" "access":{"Account":["alice"],"{{longName}}":7} """),
            With($$$""" "access":{"Account":{"{{{longName[..500]}}}":0}} """),
            With($$""" "mode":"{{longName}}" """),
            With($$""" "timeoutMs":1{{new string('0', 100_000)}} """),
            With($$""" "input":{{longName}} """),
            $$$"""{"actor":{"type":"Account","id":"{{{longName[..512]}}}"},"method":"M","access":{"Account":["x"]}}"""])
        {
            Assert.InRange(Read(body).Refusal!.Detail.Length, 1, 300);
        }
    }

    [Fact]
    public void The_actor_door_takes_the_root_from_the_address()
    {
        var root = new ActorKey("Account", "alice");

        var parsed = ForActor("""{"method":"M","access":{"Account":["alice"]}}""");
        var same = ForActor("""{"actor":{"type":"Account","id":"alice"},"method":"M"}""");
        var other = ForActor("""{"actor":{"type":"Account","id":"bob"},"method":"M"}""");
        var batch = ForActor("""{"transactions":[{"method":"M"}]}""");

        Assert.Equal(root, parsed.Request!.Actor);
        Assert.Equal(root, same.Request!.Actor);
        Assert.Contains("actor differs", other.Refusal!.Detail, StringComparison.Ordinal);
        Assert.Contains("'transactions'", batch.Refusal!.Detail, StringComparison.Ordinal);

        ParsedRequest ForActor(string body) => TransactionRequestReader.ReadForActor(Encoding.UTF8.GetBytes(body), root, default, Options);
    }

    [Fact]
    public void Types_without_actors_do_not_make_an_endless_set()
    {
        var types = string.Join(',', Enumerable.Range(0, 50_000).Select(i => $"\"T{i}\":[]"));

        Assert.Equal(RejectionKind.TooMany, Read(With($$""" "access":{{{types}}} """)).Refusal!.Kind);
    }

    [Fact]
    public void An_access_set_is_not_read_beyond_what_proves_it_too_large()
    {
        // Behind the 257th actor stands what is no JSON; a reader that went on would say so.
        var body = StatusTableTests.WithActors(100_000).Replace("\"a257\"", "]]]", StringComparison.Ordinal);

        Assert.Equal(RejectionKind.TooMany, Read(body).Refusal!.Kind);
    }

    [Fact]
    public void Repeated_actors_are_found_in_large_sets_too()
    {
        var body = StatusTableTests.WithActors(200).Replace("\"a150\"", "\"a3\"", StringComparison.Ordinal);

        AssertRefused(body, "'a3' appears more than once");
    }

    private static string Nested(int levels) => new string('[', levels) + new string(']', levels);

    private static string With(string fields) => $$"""{"actor":{"type":"Account","id":"alice"},"method":"Transfer",{{fields}}}""";

    private static ParsedRequest Read(string body) => TransactionRequestReader.Read(
        Encoding.UTF8.GetBytes(body),
        RequestOrigin.Of("shop", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        Options).Single;

    private static TransactionRequest Accepted(string body)
    {
        var parsed = Read(body);
        Assert.True(parsed.Request is not null, parsed.Refusal?.Detail);
        return parsed.Request;
    }

    private static void AssertRefused(string body, string names)
    {
        var refusal = Read(body).Refusal;
        Assert.NotNull(refusal);
        Assert.Equal(RejectionKind.Invalid, refusal.Kind);
        Assert.Contains(names, refusal.Detail, StringComparison.Ordinal);
    }
}
