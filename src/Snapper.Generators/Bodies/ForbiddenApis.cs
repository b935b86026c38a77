using System.Collections.Concurrent;
using Microsoft.CodeAnalysis;

namespace Snapper.Generators.Bodies;

/// <summary>Which members of other assemblies no method of an actor may use, and the rule that forbids each.</summary>
internal sealed class ForbiddenApis
{
    private static readonly string[] s_outside =
    [
        "System.Net.Http.HttpMessageInvoker", "System.Net.Http.Json.HttpClientJsonExtensions", "System.Net.WebRequest",
        "System.Net.WebClient", "System.Net.Dns", "System.Net.Sockets.Socket", "System.Net.Sockets.TcpClient",
        "System.Net.Sockets.TcpListener", "System.Net.Sockets.UdpClient", "System.Net.Sockets.NetworkStream",
        "System.Net.WebSockets.WebSocket", "System.Net.Mail.SmtpClient", "System.IO.File", "System.IO.Directory",
        "System.IO.FileSystemInfo", "System.IO.FileStream", "System.IO.Pipes.PipeStream",
        "System.Diagnostics.Process", "System.Data.IDbConnection", "System.Data.IDbCommand",
        "System.Data.Common.DbConnection", "System.Data.Common.DbCommand", "Microsoft.EntityFrameworkCore.DbContext",
        "Dapr.Client.DaprClient", "Dapr.Actors.Client.ActorProxy", "Dapr.Actors.Client.IActorProxyFactory",
        "Snapper.Client.SnapperClient", "Snapper.Client.ISnapperClient",
    ];

    private readonly Dictionary<INamedTypeSymbol, Func<ISymbol, DiagnosticDescriptor?>> _types =
        new(SymbolEqualityComparer.Default);

    private readonly ConcurrentDictionary<INamedTypeSymbol, Func<ISymbol, DiagnosticDescriptor?>?> _known =
        new(SymbolEqualityComparer.Default);

    public ForbiddenApis(Compilation compilation)
    {
        Add(Rules.Clock, "System.DateTime", "Now", "UtcNow", "Today");
        Add(Rules.Clock, "System.DateTimeOffset", "Now", "UtcNow");
        Add(Rules.Clock, "System.Diagnostics.Stopwatch", "StartNew", "GetTimestamp", "Start", "Restart", ".ctor");
        Add(Rules.Clock, "System.Environment", "TickCount", "TickCount64");
        Add(Rules.Clock, "System.TimeProvider", "System", "GetUtcNow", "GetLocalNow", "GetTimestamp");
        Add(Rules.Randomness, "System.Guid", "NewGuid", "CreateVersion7");
        Add(Rules.Randomness, "System.Security.Cryptography.RandomNumberGenerator");
        Add(Rules.Randomness, "System.IO.Path", "GetRandomFileName", "GetTempFileName");
        Choose("System.Random", static member => member switch
        {
            IPropertySymbol { Name: "Shared" } => Rules.Randomness,
            IMethodSymbol { MethodKind: MethodKind.Constructor, Parameters.Length: 0 } => Rules.Randomness,
            _ => null, // one with a seed gives the same in each attempt
        });
        Choose("System.Threading.Tasks.Task", static member => member.Name switch
        {
            "Run" or "Start" or "ContinueWith" or "Factory" => Rules.Threads,
            "Delay" or "Wait" or "WaitAll" or "WaitAny" => Rules.Waiting,
            _ => null,
        });
        Choose("System.Threading.Tasks.Task`1", static member => member.Name switch
        {
            "ContinueWith" or "Factory" => Rules.Threads,
            _ => null,
        });
        Choose("System.Threading.Thread", static member => member.Name switch
        {
            ".ctor" or "Start" => Rules.Threads,
            "Sleep" or "Join" => Rules.Waiting,
            _ => null,
        });
        Add(Rules.Threads, "System.Threading.Tasks.Parallel");
        Add(Rules.Threads, "System.Threading.ThreadPool");
        Add(Rules.Threads, "System.Threading.Timer");
        Add(Rules.Threads, "System.Threading.PeriodicTimer");
        Add(Rules.Threads, "System.Timers.Timer");
        Add(Rules.Threads, "System.Linq.ParallelEnumerable", "AsParallel");
        Add(Rules.Waiting, "System.Threading.WaitHandle", "WaitOne", "WaitAll", "WaitAny");
        Add(Rules.Waiting, "System.Threading.SemaphoreSlim", "Wait");
        Add(Rules.Waiting, "System.Threading.ManualResetEventSlim", "Wait");
        Add(Rules.Waiting, "System.Runtime.CompilerServices.TaskAwaiter", "GetResult");
        Add(Rules.Waiting, "System.Runtime.CompilerServices.TaskAwaiter`1", "GetResult");
        foreach (var name in s_outside)
        {
            Add(Rules.Outside, name);
        }

        void Add(DiagnosticDescriptor rule, string name, params string[] members) =>
            Choose(name, member => members.Length == 0 || members.Contains(member.Name) ? rule : null);

        void Choose(string name, Func<ISymbol, DiagnosticDescriptor?> choose)
        {
            foreach (var type in compilation.GetTypesByMetadataName(name))
            {
                _types[type] = choose;
            }
        }
    }

    /// <summary>The rule that forbids a member; null: none does.</summary>
    public DiagnosticDescriptor? RuleOf(ISymbol member)
    {
        if (member.ContainingType is not { } type)
        {
            return null;
        }

        type = type.OriginalDefinition;
        if (!_known.TryGetValue(type, out var choose))
        {
            choose = Find(type);
            _known.TryAdd(type, choose);
        }

        return choose?.Invoke(member);
    }

    // A client or a connection is one by its base class, too.
    private Func<ISymbol, DiagnosticDescriptor?>? Find(INamedTypeSymbol type)
    {
        for (var one = type; one is not null; one = one.BaseType)
        {
            if (_types.TryGetValue(one.OriginalDefinition, out var choose))
            {
                return choose;
            }
        }

        return null;
    }
}
