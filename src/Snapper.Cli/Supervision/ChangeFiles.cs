using System.Text.Json;

namespace Snapper.Cli.Supervision;

/// <summary>What a supervisor is asked to change. <paramref name="Verb"/>: <c>join</c>, or <c>leave</c> with a <paramref name="Worker"/>.</summary>
internal sealed record ChangeRequest(string Id, string Verb, string? Worker);

/// <summary>What became of it. <paramref name="Problem"/>: nothing was changed; null: it is done. <paramref name="Joined"/>: the worker that has joined.</summary>
internal sealed record ChangeAnswer(string Id, string? Problem, ReadyWorker? Joined)
{
    /// <summary>An <see cref="Id"/>: the request could not be read, so its caller is unknown.</summary>
    public const string ToWhoeverAsked = "";
}

/// <summary>
/// A request to a supervisor and its answer, a file each in its data directory: only accounts that may write there may ask, which a port on loopback could not ensure.
/// One request at a time.
/// </summary>
/// <param name="run">The folder; it exists.</param>
internal sealed class ChangeFiles(string run)
{
    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web);

    private readonly string _request = Path.Combine(run, "change.json");
    private readonly string _answer = Path.Combine(run, "changed.json");

    /// <summary>Asks.</summary>
    /// <returns>False: another request is there, and is not answered yet.</returns>
    public bool TryAsk(ChangeRequest request)
    {
        if (Read<ChangeAnswer>(_answer) is { Id: ChangeAnswer.ToWhoeverAsked }) File.Delete(_answer); // of before
        var next = $"{_request}.{request.Id}";
        using (var file = new FileStream(next, FileMode.CreateNew, FileAccess.Write, FileShare.Read))
        {
            // Root may ask what another account runs, and that one must be able to read it. The folder is closed to all others.
            if (!OperatingSystem.IsWindows()) File.SetUnixFileMode(file.SafeFileHandle, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.OtherRead);
            file.Write(JsonSerializer.SerializeToUtf8Bytes(request, s_json));
        }

        try
        {
            File.Move(next, _request, overwrite: false);
            return true;
        }
        catch (IOException) when (File.Exists(_request))
        {
            File.Delete(next);
            return false;
        }
    }

    /// <summary>The answer to a request; null: there is none yet.</summary>
    public ChangeAnswer? AnswerTo(string id) => Read<ChangeAnswer>(_answer) is { } answer && (answer.Id == id || answer.Id == ChangeAnswer.ToWhoeverAsked) ? answer : null;

    /// <summary>Takes the next request; null: there is none.</summary>
    /// <exception cref="IOException">There is one that cannot be read or removed, or means nothing; also <see cref="UnauthorizedAccessException"/>.</exception>
    public ChangeRequest? Take()
    {
        if (!File.Exists(_request)) return null;
        try
        {
            return JsonSerializer.Deserialize<ChangeRequest>(File.ReadAllBytes(_request), s_json) ?? throw new IOException($"{_request} holds no request: null");
        }
        catch (JsonException nonsense)
        {
            throw new IOException($"{_request} holds no request: {nonsense.Message}", nonsense);
        }
        finally
        {
            Forget();
        }
    }

    /// <summary>Removes a request that was not taken.</summary>
    public void Forget() => File.Delete(_request);

    public void Answer(ChangeAnswer answer)
    {
        var next = _answer + ".next";
        File.WriteAllBytes(next, JsonSerializer.SerializeToUtf8Bytes(answer, s_json));
        File.Move(next, _answer, overwrite: true);
    }

    private static T? Read<T>(string path)
        where T : class
    {
        try
        {
            return JsonSerializer.Deserialize<T>(File.ReadAllBytes(path), s_json);
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException or JsonException)
        {
            // Nothing there, or nothing that means anything: the caller, who waits for an answer, says so after a while.
            return null;
        }
    }
}
