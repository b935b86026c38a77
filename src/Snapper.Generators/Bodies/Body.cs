using System.Collections.Concurrent;
using Microsoft.CodeAnalysis;

namespace Snapper.Generators.Bodies;

/// <summary>What one method of the project does, lambdas and local functions in it included.</summary>
/// <param name="method">The method.</param>
/// <param name="isOfActor">It stands in an actor class.</param>
internal sealed class Body(IMethodSymbol method, bool isOfActor)
{
    private ConcurrentQueue<(IMethodSymbol Callee, SyntaxNode Where)>? _calls;
    private ConcurrentQueue<(IMethodSymbol Callee, SyntaxNode Where)>? _actorCalls;
    private ConcurrentQueue<Use>? _uses;
    private ConcurrentQueue<(string Member, SyntaxNode Where)>? _writes;

    public IMethodSymbol Method => method;

    public bool IsOfActor => isOfActor;

    /// <summary>Methods of the project that it calls.</summary>
    public IEnumerable<(IMethodSymbol Callee, SyntaxNode Where)> Calls => _calls ?? [];

    /// <summary>Methods of actors that it calls within the transaction.</summary>
    public IEnumerable<(IMethodSymbol Callee, SyntaxNode Where)> ActorCalls => _actorCalls ?? [];

    /// <summary>What it uses and no method of an actor may.</summary>
    public IEnumerable<Use> Uses => _uses ?? [];

    /// <summary>Where it asks to change a state.</summary>
    public IEnumerable<(string Member, SyntaxNode Where)> Writes => _writes ?? [];

    public void AddCall(IMethodSymbol callee, SyntaxNode where) => Queue(ref _calls).Enqueue((callee, where));

    public void AddActorCall(IMethodSymbol callee, SyntaxNode where) => Queue(ref _actorCalls).Enqueue((callee, where));

    public void AddUse(in Use use) => Queue(ref _uses).Enqueue(use);

    public void AddWrite(string member, SyntaxNode where) => Queue(ref _writes).Enqueue((member, where));

    private static ConcurrentQueue<T> Queue<T>(ref ConcurrentQueue<T>? queue) =>
        Volatile.Read(ref queue) ?? Interlocked.CompareExchange(ref queue, new(), null) ?? Volatile.Read(ref queue)!;
}

/// <summary>A use of something that no method of an actor may use.</summary>
/// <param name="Rule">That forbids it.</param>
/// <param name="What">Of it, as the message names it.</param>
/// <param name="Where">It stands.</param>
internal readonly record struct Use(DiagnosticDescriptor Rule, string What, SyntaxNode Where);
