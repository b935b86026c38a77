using System.Text.Json;

namespace Snapper.Simulation.Tests;

public sealed class HistoryCommandTests : IDisposable
{
    private const string Clean = """
        {"snapper-history":1}
        {"id":"t1","invoked":0,"completed":1,"outcome":"committed","ops":[["append","x",1]]}
        {"id":"t2","invoked":2,"completed":3,"outcome":"committed","ops":[["r","x",[1]]]}
        """;

    private readonly string _path = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());

    [Fact]
    public async Task A_clean_history_passes_with_exit_code_0()
    {
        var (exit, output, errors) = await Verify(Clean);

        Assert.Equal((0, ""), (exit, errors));
        Assert.StartsWith("No anomaly in 2 transactions", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Anomalies_are_told_with_exit_code_1()
    {
        var (exit, output, _) = await Verify(Clean.Replace("[1]", "[]", StringComparison.Ordinal));

        Assert.Equal(1, exit);
        Assert.Contains("LostAppend: t1 appended 1 to x and was acknowledged at 1", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Without_real_time_a_read_of_the_past_is_legal()
    {
        var (exit, _, _) = await Verify(Clean.Replace("[1]", "[]", StringComparison.Ordinal), "--no-real-time");

        Assert.Equal(0, exit);
    }

    [Fact]
    public async Task A_program_gets_the_verdict_as_JSON()
    {
        var (exit, output, _) = await Verify(Clean.Replace("[1]", "[1,1]", StringComparison.Ordinal), "--json");

        Assert.Equal(1, exit);
        using var json = JsonDocument.Parse(output);
        Assert.Equal("anomalies", json.RootElement.GetProperty("verdict").GetString());
        Assert.Equal(1, json.RootElement.GetProperty("counts").GetProperty("DuplicateAppend").GetInt64());
        Assert.Equal(
            ["t2", "t1"],
            json.RootElement.GetProperty("anomalies")[0].GetProperty("transactions")
                .EnumerateArray().Select(id => id.GetString()));
        Assert.Equal(2, json.RootElement.GetProperty("statistics").GetProperty("committed").GetInt32());
    }

    [Theory]
    [InlineData("{", "Line 4: not valid JSON at byte")]
    [InlineData("{\"id\":\"t1\",\"invoked\":4,\"outcome\":\"aborted\",\"ops\":[]}",
        "Line 4: the id \"t1\" was used on an earlier line")]
    [InlineData("{\"id\":\"t3\",\"invoked\":4,\"outcome\":\"unknown\",\"ops\":[[\"append\",\"x\",1]]}",
        "t1 (line 2) and t3 (line 4) both append 1 to x")]
    public async Task A_history_that_makes_no_sense_is_refused_with_exit_code_2(string line, string message)
    {
        var (exit, output, errors) = await Verify($"{Clean}\n{line}", "--json");

        Assert.Equal(2, exit);
        Assert.Contains(message, errors, StringComparison.Ordinal);
        using var json = JsonDocument.Parse(output);
        Assert.Equal("invalid", json.RootElement.GetProperty("verdict").GetString());
        Assert.Contains(message, json.RootElement.GetProperty("error").GetString(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("\n\n")]
    [InlineData("{\"snapper-history\":1}\n")]
    public async Task An_empty_history_is_said_to_be_empty_with_exit_code_2(string text)
    {
        var (exit, output, errors) = await Verify(text);

        Assert.Equal((2, ""), (exit, output));
        Assert.Contains("the history is empty", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_history_without_reads_is_said_to_prove_nothing()
    {
        var (exit, output, _) = await Verify(
            "{\"id\":\"t1\",\"invoked\":0,\"completed\":1,\"outcome\":\"committed\",\"ops\":[[\"append\",\"x\",1]]}");

        Assert.Equal(0, exit);
        Assert.Contains("proves nothing", output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_file_that_is_not_there_is_named_with_exit_code_2()
    {
        using var program = VerifyProgramTests.Start(["--history", _path]);
        var (exit, _, errors) = await VerifyProgramTests.End(program);

        Assert.Equal(2, exit);
        Assert.Contains(_path, errors, StringComparison.Ordinal);
    }

    public void Dispose() => File.Delete(_path);

    private async Task<(int Exit, string Output, string Errors)> Verify(string text, params string[] options)
    {
        await File.WriteAllTextAsync(_path, text);
        using var program = VerifyProgramTests.Start(["--history", _path, .. options]);
        return await VerifyProgramTests.End(program);
    }
}
