using System.Runtime.Versioning;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Commands;
using Snapper.Cli.Supervision;
using Xunit;

namespace Snapper.Cli.Tests;

/// <summary>Requests to a supervisor that runs as another account, or that cannot be read.</summary>
[SupportedOSPlatform("linux")]
public sealed class ChangeFilesTests : IDisposable
{
    private readonly TempFolder _temp = new();

    private string Request => _temp.File("change.json");

    public void Dispose() => _temp.Dispose();

    [Fact]
    public void What_root_asks_can_be_read_by_the_account_that_runs_the_system()
    {
        var files = new ChangeFiles(_temp.Path);
        Assert.True(files.TryAsk(new ChangeRequest("1", "join", null)));
        Assert.True(File.GetUnixFileMode(Request).HasFlag(UnixFileMode.GroupRead | UnixFileMode.OtherRead));
        Assert.False(FileModeMask.IsWritable(Request));
        Assert.False(files.TryAsk(new ChangeRequest("2", "join", null)));
        Assert.Equal(new ChangeRequest("1", "join", null), files.Take());
        Assert.Null(files.Take());
    }

    [Fact]
    public void A_request_that_says_nothing_is_none_and_goes_away()
    {
        File.WriteAllText(Request, "null");
        var problem = Assert.Throws<IOException>(() => new ChangeFiles(_temp.Path).Take());
        Assert.Equal($"{Request} holds no request: null", problem.Message);
        Assert.False(File.Exists(Request));
    }

    [Fact]
    public async Task Who_asks_what_cannot_be_read_is_told_so_and_the_next_one_is_not()
    {
        var files = new ChangeFiles(_temp.Path);
        using var errors = new StringWriter();
        using var over = new CancellationTokenSource();
        var deployment = new Deployment(UpCommand.Parse(["--data", _temp.Path]), new MessageWriter(errors));
        var serving = ChangeServer.Run(deployment, files, over.Token);
        await File.WriteAllTextAsync(_temp.File("next"), "{ nonsense");
        File.Move(_temp.File("next"), Request);
        await Eventually.True("it is answered", () => files.AnswerTo("mine") is not null);
        Assert.StartsWith($"the running system cannot read the request: {Request} holds no request: ", files.AnswerTo("mine")!.Problem, StringComparison.Ordinal);
        Assert.EndsWith("; ask as the account that it runs as", files.AnswerTo("mine")!.Problem, StringComparison.Ordinal);
        Assert.False(File.Exists(Request));
        Assert.Contains("a request to change what runs cannot be read or answered: ", errors.ToString());

        Assert.True(files.TryAsk(new ChangeRequest("next", "dance", null)));
        await Eventually.True("the next one is answered", () => files.AnswerTo("next") is not null);
        Assert.Equal("a supervisor can let workers join and leave, not 'dance'", files.AnswerTo("next")!.Problem);
        await over.CancelAsync();
        await serving;
    }
}
