using Snapper.Fuzzing.Engine;

namespace Snapper.Fuzzing.Http;

/// <summary>Bodies of requests: good ones, ones with one field that is wrong (and is to be named), and ones that are not even JSON.</summary>
internal static class RequestBodies
{
    private static readonly (string Field, string[] Wrong)[] Fields =
    [
        ("actor", ["null", "[]", "7", "\"alice\"", "{}", "{\"type\":1,\"id\":\"a\"}", "{\"type\":\"Account\"}", "{\"id\":\"a\"}", "{\"type\":\"Account\",\"id\":\"\"}", "{\"type\":\"\",\"id\":\"a\"}", "{\"type\":\"Account\",\"id\":\"a\",\"id\":\"b\"}", "{\"type\":\"Account\",\"id\":null}", "{\"type\":\"Acc ount\",\"id\":\"a\"}", "{\"type\":\"Account\",\"id\":\"a\\u0000b\"}"]),
        ("method", ["null", "7", "[]", "{}", "true", "\"\"", "\"\\u0007\""]),
        ("mode", ["7", "\"PACT\"", "\"both\"", "[]", "true", "\"\""]),
        ("accessMode", ["7", "\"Strict\"", "[]", "{}", "\"\""]),
        ("access", ["7", "\"x\"", "[]", "{\"Account\":7}", "{\"Account\":{\"alice\":0}}", "{\"Account\":{\"alice\":-1}}", "{\"Account\":{\"alice\":1.5}}", "{\"Account\":{\"alice\":\"1\"}}", "{\"Account\":{\"alice\":1e999}}", "{\"Account\":{\"alice\":9223372036854775808}}", "{\"Account\":{\"alice\":{\"keys\":[\"a\"]}}}", "{\"Account\":[\"alice\",7]}", "{\"Account\":{\"bob\":1}}", "{\"Account\":[[\"alice\"]]}", "{\"Account\":null}", "{\"\":[\"alice\"]}", "true"]),
        ("id", ["7", "\"\"", "[]", "{}", "true", "\"\\u0001\"", "\"" + "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii" + "\""]),
        ("timeoutMs", ["0", "-1", "1.5", "\"1\"", "300001", "1e999", "9223372036854775808", "[]", "{}", "true", "-0.0"]),
    ];

    private static readonly string[] Junk =
    [
        "", " ", "null", "7", "\"x\"", "[]", "{}", "{", "}", "[", "{\"a\"", "{\"actor\":", "{\"actor\":{\"type\":\"Account\",\"id\":\"alice\"},\"method\":\"Balance\"}}", "{\"actor\":{\"type\":\"Account\",\"id\":\"alice\"},\"method\":\"Balance\"}{}",
        "{'actor':1}", "{\"method\":NaN}", "{\"method\":Infinity}", "{/*c*/}", "{\"transactions\":[]}", "{\"transactions\":7}", "{\"transactions\":[7,null,[],{}]}", "{\"transactions\":[{}],\"more\":1}", "{\"more\":1,\"transactions\":[{}]}", "{\"transactions\":[{\"transactions\":[]}]}",
        "{\"method\":\"\\ud800\"}", "{\"method\":\"\\udc00\\ud800\"}", "{\"\\u006dethod\":\"Balance\"}", "{\"nope\":1}", "{\"Method\":\"Balance\"}", "\"\\u0000\"",
    ];

    /// <summary>A body, and the field that is wrong in it; an empty name: nothing is known to be wrong, or no field is.</summary>
    public static (byte[] Body, string Field) Draw(Random random, bool hasActor)
    {
        switch (random.Next(10))
        {
            case 0: return (Odd(random), "");
            case 1: return (Pieces.Bytes($"{{\"transactions\":[{string.Join(',', Enumerable.Range(0, random.Next(1, 4)).Select(_ => Text(Good(random, true))))}]}}"), "");
            case 2 or 3 or 4: return (Pieces.Bytes(Text(Good(random, hasActor))), "");
            default: return Wrong(random, hasActor);
        }
    }

    private static (byte[] Body, string Field) Wrong(Random random, bool hasActor)
    {
        var fields = Good(random, hasActor);
        var (name, wrong) = random.One(Fields);
        if (name == "actor" && !hasActor)
        {
            return (Pieces.Bytes(Text([.. fields, ("actor", "{\"type\":\"Account\",\"id\":\"alice\"}")])), "");
        }

        fields.RemoveAll(field => field.Name == name);
        if (name == "accessMode" || (name == "access" && random.Percent(50)))
        {
            fields.RemoveAll(field => field.Name == "mode");
        }

        switch (random.Next(8))
        {
            case 0: return (Pieces.Bytes(Text([.. fields, (name, Fields[0].Field == name ? "{\"type\":\"Account\",\"id\":\"alice\"}" : "null"), (name, wrong[0])])), "");
            case 1: return (Pieces.Bytes(Text([.. fields, ("nope", "1")])), "");
        }

        fields.Insert(random.Next(fields.Count + 1), (name, random.One(wrong)));
        return (Pieces.Bytes(Text(fields)), name);
    }

    private static List<(string Name, string Value)> Good(Random random, bool hasActor)
    {
        var list = random.Percent(30);
        var pact = random.Percent(50);
        var fields = new List<(string, string)>();
        if (hasActor)
        {
            fields.Add(("actor", list ? "{\"type\":\"ListAppend\",\"id\":\"alice\"}" : "{\"type\":\"Account\",\"id\":\"alice\"}"));
        }

        if (list && hasActor)
        {
            fields.Add(("method", "\"Execute\""));
            fields.Add(("input", $"{{\"ops\":[{random.One("{\"f\":\"append\",\"key\":\"alice\",\"value\":3}", "{\"f\":\"r\",\"key\":\"alice\"}", "{\"f\":\"x\",\"key\":\"alice\"}", "{\"f\":\"append\",\"key\":\"\",\"value\":1}", "null", "7", "{\"f\":\"append\",\"key\":\"alice\",\"value\":1e99}")}]}}"));
        }
        else
        {
            var transfer = random.Percent(50);
            fields.Add(("method", transfer ? "\"Transfer\"" : random.One("\"Balance\"", "\"DepositChecking\"", "\"TransactSavings\"", "\"WriteCheck\"", "\"MultiTransfer\"", "\"Nope\"", "\"balance\"", "\"ToString\"")));
            fields.Add(("input", random.Percent(60)
                ? (transfer ? "{\"to\":\"bob\",\"amount\":1}" : "{\"amount\":1}")
                : random.One("null", "7", "[]", "{}", "{\"to\":7,\"amount\":1}", "{\"to\":\"bob\",\"amount\":\"1\"}", "{\"to\":\"bob\",\"amount\":1e999}", "{\"to\":\"bob\",\"amount\":1e28}", "{\"to\":\"bob\",\"amount\":79228162514264337593543950335}", "{\"to\":\"bob\",\"amount\":0.00000000000000000000000000001}", "{\"to\":\"bob\",\"amount\":-1}", "{\"to\":\"\",\"amount\":1}", "{\"to\":\"b\\u0000\",\"amount\":1}", "{\"to\":\"\\ud800\",\"amount\":1}", "{\"to\":\"bob\",\"amount\":1,\"more\":1}", "{\"to\":\"bob\",\"amount\":1,\"amount\":2}", "{\"to\":[\"bob\",\"bob\"],\"amount\":1}", "{\"TO\":\"bob\",\"Amount\":1}")));
        }

        if (pact)
        {
            fields.Add(("access", $"{{\"{(list && hasActor ? "ListAppend" : "Account")}\":{random.One("{\"alice\":2,\"bob\":2}", "[\"alice\",\"bob\"]", "{\"alice\":{\"calls\":3},\"bob\":1}", "[\"alice\"]")}}}"));
        }

        if (random.Percent(30))
        {
            fields.Add(("mode", pact ? "\"pact\"" : "\"act\""));
        }

        if (random.Percent(30))
        {
            fields.Add(("id", $"\"r{random.Next(100_000)}{random.One("", "🏦", "/", "%2F", " ")}\""));
        }

        if (random.Percent(30))
        {
            fields.Add(("timeoutMs", random.One("1", "10", "2000")));
        }

        return fields;
    }

    private static byte[] Odd(Random random)
    {
        var good = Pieces.Bytes(Text(Good(random, true)));
        return random.Next(8) switch
        {
            0 => [0xEF, 0xBB, 0xBF, .. good],
            1 => System.Text.Encoding.Unicode.GetBytes("\ufeff" + System.Text.Encoding.UTF8.GetString(good)),
            2 => [.. good[..^1], 0xED, 0xA0, 0x80],
            3 => Pieces.Bytes(new string(random.One('[', '{'), random.One(10, 63, 64, 65, 200, 20_000))),
            4 => Pieces.Bytes("{\"actor\":{\"type\":\"Account\",\"id\":\"alice\"},\"method\":\"Balance\",\"input\":" + new string('[', 70) + new string(']', 70) + "}"),
            5 => Pieces.Bytes("{\"actor\":{\"type\":\"Account\",\"id\":\"" + new string('a', random.One(511, 512, 513, 100_000)) + "\"},\"method\":\"Balance\"}"),
            6 => Pieces.Bytes("{\"actor\":{\"type\":\"Account\",\"id\":\"alice\"},\"method\":\"Balance\",\"access\":{\"Account\":[" + string.Join(',', Enumerable.Range(0, random.One(255, 256, 257, 2000)).Select(i => $"\"x{i}\"")) + ",\"alice\"]}}"),
            _ => Pieces.Bytes(random.One(Junk)),
        };
    }

    private static string Text(List<(string Name, string Value)> fields) => "{" + string.Join(',', fields.Select(field => $"\"{field.Name}\":{field.Value}")) + "}";
}
