using Dapr.Actors;
using Dapr.Actors.Runtime;
using Orders.Contract;

namespace Orders.Shop.Carts;

/// <summary>What a customer has chosen so far.</summary>
public interface ICart : IActor
{
    /// <summary>So many of an article; 0 takes it out.</summary>
    Task Put(Line line);

    /// <summary>All of it.</summary>
    Task<Line[]> Lines();

    /// <summary>Empties it.</summary>
    Task Clear();
}

/// <summary>
/// A plain actor of Dapr's SDK beside the transactional ones: a cart concerns itself alone, and losing its last change
/// does no harm.
/// </summary>
public sealed class Cart(ActorHost host) : Actor(host), ICart
{
    private const string Name = "lines";

    public async Task Put(Line line)
    {
        var lines = (await Lines()).Where(one => one.Article != line.Article);
        await StateManager.SetStateAsync(Name, line.Count > 0 ? [.. lines, line] : lines.ToArray());
    }

    public Task<Line[]> Lines() => StateManager.GetOrAddStateAsync(Name, Array.Empty<Line>());

    public Task Clear() => StateManager.SetStateAsync(Name, Array.Empty<Line>());
}
