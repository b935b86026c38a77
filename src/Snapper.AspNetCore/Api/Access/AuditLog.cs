using System.Text.Json;
using Snapper.AspNetCore.Api.Answers;
using Snapper.AspNetCore.Processes;
using Snapper.Contracts;
using Snapper.Security;

namespace Snapper.AspNetCore.Api.Access;

/// <summary>What the handler of an audited address adds.</summary>
internal sealed class AuditNote
{
    /// <summary>A better word than the address's; null: that one.</summary>
    public string? Action { get; private set; }

    /// <summary>What it is about.</summary>
    public string? Target { get; private set; }

    /// <summary>Why, in the caller's words.</summary>
    public string? Reason { get; private set; }

    /// <summary>Says what a request is about, where it is audited.</summary>
    public static void Say(HttpContext context, string? target, string? reason = null, string? action = null)
    {
        if (context.Features.Get<AuditNote>() is { } note)
        {
            (note.Action, note.Target, note.Reason) = (action, target, reason);
        }
    }
}

/// <summary>
/// Admin actions, refused ones too: the newest in memory, all in a file that is begun anew when it is full (the older ones are kept, as many as <see cref="FilesMax"/>), and in the log. Thread-safe.
/// </summary>
/// <param name="file">Where to; its folder is made. Null: in memory and the log only.</param>
/// <param name="tokens">What must not be written down.</param>
/// <param name="logger">Hears all.</param>
/// <param name="time">The clock.</param>
/// <param name="fileBytesMax">A file longer than this is full.</param>
internal sealed partial class AuditLog(
    string? file, KnownTokens tokens, ILogger logger, TimeProvider time, long fileBytesMax = 8 << 20)
{
    /// <summary>Actions in memory.</summary>
    public const int KeptMax = 800;

    /// <summary>Refused attempts in memory, apart from the actions: they drive out each other only.</summary>
    public const int RefusedKeptMax = 200;

    /// <summary>Files that are kept, the one that is written included.</summary>
    public const int FilesMax = 5;

    private const int TextMax = 300;

    private readonly Lock _gate = new();
    private readonly Queue<(long Number, AuditEntry Entry)> _done = new();
    private readonly Queue<(long Number, AuditEntry Entry)> _refused = new();
    private readonly RefusalBuckets _refusals = new(time);
    private readonly string? _file = file;
    private readonly long _fileBytesMax = fileBytesMax;
    private readonly KnownTokens _tokens = tokens;
    private readonly ILogger _logger = logger;
    private readonly TimeProvider _time = time;
    private long _number;
    private int _leftOut;
    private bool _fails;

    public static AuditLog InMemory(ILogger logger) => new(null, new KnownTokens([]), logger, TimeProvider.System);

    /// <summary>An audited address was refused, or a caller that shows no known token, at any.</summary>
    public void Refused(AccessRow row, RequestCaller caller, in Problem problem)
    {
        if (row.Action is not null || row.Right is Right.Operate or Right.Administer
            || problem.Status == StatusCodes.Status401Unauthorized)
        {
            Write(caller, row.Action ?? $"{row.Method} {row.Pattern}", null, problem.Detail, problem.Status, isRefused: true);
        }
    }

    /// <summary>An audited address has answered. What it would not do, it has refused.</summary>
    public void Done(AccessRow row, RequestCaller caller, AuditNote note, int status) =>
        Write(caller, note.Action ?? row.Action!, note.Target, note.Reason, status, isRefused: status is >= 400 and < StatusCodes.Status499ClientClosedRequest);

    public IReadOnlyList<AuditEntry> Newest(int limit)
    {
        lock (_gate)
        {
            return [.. _done.Concat(_refused).OrderByDescending(one => one.Number).Take(limit).Select(one => one.Entry)];
        }
    }

    private void Write(RequestCaller caller, string action, string? target, string? reason, int status, bool isRefused)
    {
        lock (_gate)
        {
            if (isRefused && !_refusals.Take(caller.Principal))
            {
                _leftOut++;
                return;
            }

            var entry = new AuditEntry(
                _time.GetUtcNow().ToUnixTimeMilliseconds(), caller.Principal.Name, caller.Principal.Role.Name(), action, Clean(target), Clean(reason),
                status.ToString(System.Globalization.CultureInfo.InvariantCulture), caller.App is null ? caller.From : $"{caller.From} (app {Clean(caller.App)})", _leftOut);
            _leftOut = 0;
            var (kept, most) = isRefused ? (_refused, RefusedKeptMax) : (_done, KeptMax);
            kept.Enqueue((++_number, entry));
            if (kept.Count > most) kept.Dequeue();
            Append(entry);
            Audited(_logger, entry.Who, entry.Role, entry.From, entry.Action, entry.Target ?? "-", entry.Outcome, entry.Reason ?? "-");
        }
    }

    private void Append(AuditEntry entry)
    {
        if (_file is null)
        {
            return;
        }

        try
        {
            FileModeMask.MakeFolder(Path.GetDirectoryName(_file)!);
            FileModeMask.Close(_file);
            if (new FileInfo(_file) is { Exists: true } full && full.Length >= _fileBytesMax) Rotate();
            using var stream = new FileStream(_file, FileModeMask.Options(FileMode.Append, FileAccess.Write, FileShare.Read));
            stream.Write([.. JsonSerializer.SerializeToUtf8Bytes(entry, ContractJson.Default.AuditEntry), (byte)'\n']);
            stream.Flush(flushToDisk: true);
            _fails = false;
        }
        catch (Exception problem) when (problem is IOException or UnauthorizedAccessException)
        {
            // The action is done: it is told by the log, and by the file not being there. A full disk says so once.
            if (!_fails) NotWritten(_logger, _file, problem.Message);
            _fails = true;
        }
    }

    private void Rotate()
    {
        for (var i = FilesMax - 1; i > 0; i--)
        {
            var older = i == 1 ? _file! : $"{_file}.{i - 1}";
            if (File.Exists(older)) File.Move(older, $"{_file}.{i}", overwrite: true);
        }
    }

    private string? Clean(string? text)
    {
        if (text is null) return null;
        var shown = string.Concat(text.Take(TextMax).Select(c => char.IsControl(c) || char.IsSurrogate(c) ? ' ' : c));
        return _tokens.Redact(shown) + (text.Length > TextMax ? "..." : "");
    }

    [LoggerMessage(EventId = 3010, Level = LogLevel.Information, Message = "Audit: {Who} ({Role}) from {From}: {Action} {Target}: {Outcome}; reason: {Reason}")]
    private static partial void Audited(ILogger log, string who, string role, string from, string action, string target, string outcome, string reason);

    [LoggerMessage(EventId = 3011, Level = LogLevel.Error, Message = "The audit file {File} cannot be written, entries are in this log only: {Problem}")]
    private static partial void NotWritten(ILogger log, string file, string problem);
}
