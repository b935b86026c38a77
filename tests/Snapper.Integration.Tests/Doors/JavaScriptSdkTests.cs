using System.Text.Json;
using Snapper.Integration.Tests.Harness;
using Snapper.Tests.Support;
using Xunit;

namespace Snapper.Integration.Tests.Doors;

/// <summary>
/// The actor proxies of Dapr's JavaScript SDK, <c>@dapr/dapr</c> of npm as <c>JavaScript/package-lock.json</c> has it,
/// against transactional actors, through the real sidecar on the real Redis.
/// </summary>
[Collection(OnDaprAndRedis.Name)]
[RequiresServers]
[RequiresNode]
public sealed class JavaScriptSdkTests(DaprAndRedisSystem system) : SystemTests(system)
{
    private static readonly string s_script =
        Path.Combine(Repository.Root, "tests", "Snapper.Integration.Tests", "Doors", "JavaScript");

    [SystemFact]
    public async Task A_proxy_runs_transactions_and_rethrows_aborts_with_reason_and_advice()
    {
        var (from, to, key) = (Name("js"), Name("js"), Name("js"));
        var said = await Call(from, to, key);

        Assert.Equal("9990", said["transfer"]);
        Assert.Equal("""{"checking":9990,"savings":10000,"total":19990}""", said["balance"]);

        // daprd makes a 500 of it, and the SDK an Error of daprd's answer.
        var (status, abort) = Thrown(said["abort"]);
        Assert.Equal((500, "application", false),
            (status, abort.GetProperty("reason").GetString(), abort.GetProperty("retryable").GetBoolean()));
        Assert.StartsWith("insufficient funds", abort.GetProperty("message").GetString(), StringComparison.Ordinal);

        // An object whose field is an array, as the one element of the array that the SDK sends.
        Assert.Equal("9985", said["several"]); // 5 to itself
        Assert.Equal("[7]", said["read"]);
        Assert.Equal("null", said["append"]); // a method without a result

        // What is no call of the method is refused, and nothing is done.
        Assert.Contains("input.amount must be a number", said["misfit"], StringComparison.Ordinal);
        Assert.Contains("input must be an object", said["two arguments"], StringComparison.Ordinal);
        Assert.Equal((9_985m, 10_015m), (await Checking(from), await Checking(to)));
        await AssertList(key, 7);
    }

    /// <summary>What it prints, by the name of the call: the result as JSON, or the message of the error.</summary>
    private async Task<Dictionary<string, string>> Call(string from, string to, string key)
    {
        var packages = await NpmPackages.Install(s_script);

        // Node looks for packages beside the script.
        var folder = Directory.CreateTempSubdirectory("snapper-js-");
        try
        {
            File.Copy(Path.Combine(s_script, "call.mjs"), Path.Combine(folder.FullName, "call.mjs"));
            Directory.CreateSymbolicLink(
                Path.Combine(folder.FullName, "node_modules"), Path.Combine(packages, "node_modules"));
            var port = Shared.Process.Worker.Sidecar.Port.ToString(System.Globalization.CultureInfo.InvariantCulture);
            var (code, output) = await NpmPackages.Run(
                "node", ["call.mjs", port, from, to, key], folder.FullName, TimeSpan.FromMinutes(1));
            Assert.True(code == 0, output);
            return output.Split('\n').Where(static line => line.StartsWith('{')).Select(static line =>
                JsonSerializer.Deserialize<JsonElement>(line)).ToDictionary(
                static said => said.GetProperty("name").GetString()!,
                static said => said.TryGetProperty("error", out var error) ? error.GetString()!
                    : said.GetProperty("result").GetRawText());
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    /// <summary>
    /// The status of daprd, and the abort in the worker's answer, taken out of the error's message as docs/http-api.md
    /// shows it.
    /// </summary>
    private static (int Status, JsonElement Abort) Thrown(string message)
    {
        var error = JsonSerializer.Deserialize<JsonElement>(message);
        var daprd = JsonSerializer.Deserialize<JsonElement>(error.GetProperty("error_msg").GetString()!);
        var text = daprd.GetProperty("message").GetString()!;
        var answer = JsonSerializer.Deserialize<JsonElement>(text[text.IndexOf('{', StringComparison.Ordinal)..]);
        return (error.GetProperty("status").GetInt32(), answer.GetProperty("abort"));
    }
}
